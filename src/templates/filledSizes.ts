import { escapedBytes } from "./escapeHtml.ts"
import type { Template } from "./Template.ts"
import { type Placeholder, readValue, type TemplatePart, type Variables } from "./TemplatePart.ts"

type SizeOf = (text: string) => number

/** All places of one name. */
interface Places {
  readonly placeholder: Placeholder
  times: number
  /** The total size of their defaults. */
  defaults: number
}

const partSize = (
  { literals, placeholders }: TemplatePart,
  sizes: { readonly literal: SizeOf; readonly value: SizeOf }
): (variables: Variables) => number => {
  const fixed = literals.reduce((sum, literal) => sum + sizes.literal(literal), 0)
  const byName = new Map<string, Places>()
  for (const placeholder of placeholders) {
    const places = byName.get(placeholder.name) ?? { placeholder, times: 0, defaults: 0 }
    places.times += 1
    places.defaults += placeholder.fallback === undefined ? 0 : sizes.value(placeholder.fallback)
    byName.set(placeholder.name, places)
  }
  return (variables) => {
    let size = fixed
    for (const { defaults, placeholder, times } of byName.values()) {
      const value = readValue(placeholder, variables)
      size += value === undefined ? defaults : times * sizes.value(value)
    }
    return size
  }
}

const none = () => 0

const characters: SizeOf = (text) => text.length

const bytes: SizeOf = (text) => Buffer.byteLength(text)

/**
 * The sizes of a message's texts, computed without building them, because values may be huge. The subject is an upper
 * bound in UTF-16 units; the others are exact bytes, 0 for an absent text. The template is scanned once for all
 * messages, and each name once per message.
 */
export const filledSizes = ({ html, subject, text }: Template) => {
  const parts = {
    subject: partSize(subject, { literal: characters, value: characters }),
    html: html === undefined ? none : partSize(html, { literal: bytes, value: escapedBytes }),
    text: text === undefined ? none : partSize(text, { literal: bytes, value: bytes })
  }
  return (variables: Variables) => ({
    subject: parts.subject(variables),
    html: parts.html(variables),
    text: parts.text(variables)
  })
}
