import { Schema } from "effect"
import { listQuery, part } from "../pages/query.ts"

/** The query of the inbox's list. */
export const MailQuery = Schema.Struct({ to: part, from: part, subject: part, q: part, ...listQuery })

/** The query that selects mails to delete. */
export const MailSelection = Schema.Struct({ to: part, from: part, subject: part, q: part })
export type MailSelection = typeof MailSelection.Type

/** A condition that a mail meets: a text in one of its fields or anywhere, or a mark. */
export type MailCondition =
  | { readonly field: "to" | "from" | "subject" | "any"; readonly text: string }
  | { readonly mark: "read" | "unread" | "attachment" }

const word = /(?:(from|to|subject|is|has):)?(?:"([^"]*)"|(\S+))/gi

const conditionOf = (name: string, text: string): MailCondition => {
  switch (`${name}:${text}`) {
    case "is:unread":
      return { mark: "unread" }
    case "is:read":
      return { mark: "read" }
    case "has:attachment":
      return { mark: "attachment" }
  }
  return name === "from" || name === "to" || name === "subject"
    ? { field: name, text }
    : { field: "any", text: name === "" ? text : `${name}:${text}` }
}

/**
 * The conditions of a search, all of which a mail must meet. `q` has words and "phrases" that match in any field, and
 * `from:`, `to:`, `subject:`, `is:unread`, `is:read` and `has:attachment`.
 */
export const conditionsOf = ({ from, q, subject, to }: MailSelection): ReadonlyArray<MailCondition> => [
  ...([["to", to], ["from", from], ["subject", subject]] as const).flatMap(([field, text]) =>
    text.trim() === "" ? [] : [{ field, text: text.trim().toLowerCase() }]
  ),
  ...[...q.matchAll(word)].flatMap(([, name = "", phrase, plain = ""]) => {
    const text = (phrase ?? plain).toLowerCase()
    return text === "" ? [] : [conditionOf(name.toLowerCase(), text)]
  })
]

/** The query string of a selection, with its question mark; empty if it selects all. */
export const queryString = ({ from, q, subject, to }: MailSelection): string => {
  const given = Object.entries({ to, from, subject, q }).filter(([, text]) => text !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}
