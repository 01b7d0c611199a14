import { Schema } from "effect"

/**
 * The schema with its examples, given as they stand in JSON. An example that its own schema refuses stops the start:
 * the documentation, the test events and the schema cannot disagree.
 */
export const withExamples = <S extends Schema.Top & { readonly DecodingServices: never }>(
  schema: S,
  first: S["Encoded"],
  ...more: ReadonlyArray<S["Encoded"]>
): S["Rebuild"] => {
  const decode = Schema.decodeSync(schema)
  return schema.annotate({ examples: [first, ...more].map((example) => decode(example)) })
}
