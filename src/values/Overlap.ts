import { Effect, Schema, SchemaTransformation } from "effect"

const longest = 7 * 24 * 60 * 60

const usual = { overlap_seconds: 86_400 }

/** Seconds during which what a rotation replaces still works: one day if absent, at most 7 days. */
export const overlapSeconds = (description: string) =>
  Schema.Int
    .annotate({ description: `${description}; default 86400 (one day)` })
    .check(
      Schema.isBetween({ minimum: 0, maximum: longest }, { message: `must be a whole number from 0 to ${longest}` })
    )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(usual.overlap_seconds)))

/** The body of a rotation that has none. The library decodes a missing body as null. */
export const absentBody = <S extends Schema.Codec<typeof usual, unknown>>(rotation: S) =>
  Schema.Null.pipe(
    Schema.decodeTo(
      Schema.toType(rotation),
      SchemaTransformation.transform({ decode: () => usual, encode: () => null })
    )
  )
