import { Schema } from "effect"
import { textBetween } from "./Text.ts"

const maxTags = 10
const maxKeys = 20

/** A word by which an account finds its messages again. */
const Tag = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9_.:-]{1,64}$/, {
    message: "must have 1 to 64 characters, each a letter, a digit or one of _ . : -"
  })
)

/** The tags of a message. */
export const Tags = Schema.Array(Tag).check(
  Schema.isMaxLength(maxTags, { message: `must be at most ${maxTags} tags` })
).annotate({ description: `Up to ${maxTags} words by which lists and usage are filtered` })

const TagQuery = Schema.Union([Tag, Tags]).annotate({
  description: "A tag that the message has. Repeated, it must have all of them"
})

/** The filter of every list of messages and batches. */
export const tagQuery = { tag: Schema.optionalKey(TagQuery) }

/** Selects messages that have a tag, or all of several. */
export interface TagFilter {
  readonly tag?: string | ReadonlyArray<string> | undefined
}

/** The tags of a filter; null if there is none. */
export const tagsOf = ({ tag }: TagFilter) => tag === undefined ? null : [tag].flat()

/** The parameter by which a list is filtered by the metadata with a key. */
export const metadataName = (key: string): string => `metadata[${key}]`

/** The key of such a parameter; undefined for every other one. */
export const metadataKeyOf = (parameter: string): string | undefined => /^metadata\[(.{1,40})\]$/.exec(parameter)?.[1]

const faultOf = (metadata: Readonly<Record<string, string>>): string | undefined => {
  const keys = Object.keys(metadata)
  if (keys.length > maxKeys) return `must have at most ${maxKeys} keys`
  return keys.every((key) => key !== "" && key.length <= 40 && key.isWellFormed() && !key.includes("\0"))
    ? undefined
    : "must have keys of 1 to 40 characters"
}

/** Texts that an account keeps with a message. */
export const Metadata = Schema.Record(Schema.String, textBetween(0, 500)).check(
  Schema.makeFilter(faultOf, { toJsonSchema: () => ({ maxProperties: maxKeys }) })
).annotate({
  description:
    `Up to ${maxKeys} texts by name, which the record and the events of the message repeat. Logs never have them`
})

/** The tags and the metadata of a message. */
export interface Labels {
  readonly tags: ReadonlyArray<string>
  readonly metadata: Readonly<Record<string, string>>
}

/** The labels of a message, and the message with steps that it is a step of. */
export interface MessageLabels extends Labels {
  readonly failover_id: string | null
}

/** Those of a message whose request gave none. */
export const noLabels: MessageLabels = { tags: [], metadata: {}, failover_id: null }

/** What records and events repeat of them. */
export const labels = {
  tags: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.String)
}

/** What records and events of single messages repeat. */
export const messageLabels = {
  ...labels,
  failover_id: Schema.NullOr(Schema.String).annotate({
    description: "The message with failover that this one is a step of; null for any other"
  })
}

/** The tags in the form of a PostgreSQL array, for one column of many rows. */
export const arrayOf = (tags: ReadonlyArray<string>): string => `{${tags.map((tag) => `"${tag}"`).join(",")}}`
