import type { Node, Rule } from "./rule.ts"

/**
 * Phrases that hide who acts, or that stand where the field has a word: `nobody`, `told of`, `in the hands of`. The list
 * is short on purpose: each entry was found dozens of times, and each has a plain form.
 */
const rejected = [
  "[Ww]ho(?:m)?ever",
  "[Nn]obody",
  "[Ss]omebody",
  "[Aa]new",
  "[Bb]e it",
  "(?<!\\bthere )(?:is|are) none",
  "(?:told|tells?|telling) of",
  "in (?:the|its|their|our|your|whose) hands?",
  "of (?:its|his|her|their|one's) own"
]

/** A quoted word and an address, such as `nobody@example.com`, are data and no phrases. */
const phrase = new RegExp(`(?<![\\w\`'"@.])(?:${rejected.join("|")})(?![\\w\`'"@\\\\]|\\.\\w)`, "g")

/** The rejected phrases of a text, each as it is written. A phrase may be broken by a line end of a comment. */
export const rejectedPhrases = (text: string): ReadonlyArray<string> =>
  text.replaceAll(/\s*\n\s*(?:\*|\/\/)?\s*/g, " ").match(phrase) ?? []

/** Rejects those phrases in comments, and in strings, which hold messages, descriptions and test titles. */
export const plainEnglish: Rule = {
  create(context) {
    const check = (node: Node, text: string) => {
      for (const found of rejectedPhrases(text)) {
        context.report({ node, message: `Write plain English instead of "${found.toLowerCase()}"` })
      }
    }
    return {
      Program(node) {
        const comments = context.sourceCode.getAllComments()
        // Line comments that follow each other are one text.
        check(node, comments.map(({ value }) => value).join("\n"))
      },
      Literal(node) {
        // A single word is data.
        if (typeof node.value === "string" && node.value.includes(" ")) check(node, node.value)
      },
      TemplateElement: (node) => check(node, node.value.raw)
    }
  }
}
