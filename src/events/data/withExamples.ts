import { Schema } from "effect"

/**
 * The schema with examples in their JSON form. An example that its schema refuses stops the start, so documentation,
 * test events and schema cannot contradict each other.
 */
export const withExamples = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  first: S["Encoded"],
  ...more: ReadonlyArray<S["Encoded"]>
): S["Rebuild"] => {
  const decode = Schema.decodeSync(schema)
  return schema.annotate({ examples: [first, ...more].map((example) => decode(example)) })
}
