import { filledSizes } from "../../../templates/filledSizes.ts"
import type { Template } from "../../../templates/Template.ts"
import type { Variables } from "../../../templates/TemplatePart.ts"

/** What the texts may be once their values are filled in: a value can stand in many places. */
const longest = { subject: 2_000, html: 10 * 1024 * 1024, text: 10 * 1024 * 1024 }

const parts = ["subject", "html", "text"] as const

/** A text that is too large once its values are filled in, and what it may be. */
export interface Overfilled {
  readonly part: typeof parts[number]
  readonly most: string
}

/** Looks through the messages of one template for the first text of each that is too large, and makes none of them. */
export const findOversizedPart = (template: Template): (variables: Variables) => Overfilled | undefined => {
  const sizesOf = filledSizes(template)
  return (variables) => {
    const sizes = sizesOf(variables)
    const part = parts.find((name) => sizes[name] > longest[name])
    return part && { part, most: `at most ${longest[part]} ${part === "subject" ? "characters" : "bytes"}` }
  }
}
