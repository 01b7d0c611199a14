import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { lineBetween, textBetween } from "../../../values/Text.ts"

const MiB = 1024 * 1024

/** Decoded; the body of the request may have 10 MiB, and base64 makes 9.4 of these. */
const largest = 7 * MiB
const most = 10

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** The bytes, or what is wrong. Line breaks, which encoders of mail put in, do not count. */
const decode = (text: string): Result.Result<Uint8Array, string> => {
  const packed = text.replaceAll(/[\r\n]/g, "")
  return base64.test(packed) && packed.length % 4 === 0
    ? Result.succeed(Buffer.from(packed, "base64"))
    : Result.fail("must be base64: letters, digits, + and /, padded with =")
}

const Base64 = Schema.String.annotate({ description: "The file in base64", contentEncoding: "base64" }).pipe(
  Schema.decodeTo(
    Schema.Uint8Array,
    SchemaTransformation.transformEffect({
      decode: (text, options) =>
        Effect.fromResult(
          Result.mapError(decode(text), (message) => new SchemaIssue.InvalidValue({ message }, text, options))
        ),
      encode: (bytes) => Effect.succeed(Buffer.from(bytes).toString("base64"))
    })
  )
)

const AttachmentInput = Schema.Struct({
  filename: lineBetween(1, 255).annotate({ description: "As the reader sees it; no path on any machine" }),
  content: Base64,
  content_type: Schema.optionalKey(
    textBetween(1, 129).check(
      Schema.isPattern(/^[a-z0-9][\w!#$&^.+-]{0,63}\/[a-z0-9][\w!#$&^.+-]{0,63}$/i, {
        message: "must be a media type without parameters, such as application/pdf"
      })
    ).annotate({ description: "A media type without parameters; application/octet-stream where it is left out" })
  )
})

/** Files that go with an email. */
export const AttachmentInputs = Schema.Array(AttachmentInput).check(
  Schema.isMaxLength(most, { message: `must be at most ${most} files` }),
  Schema.makeFilter(
    (files: ReadonlyArray<typeof AttachmentInput.Type>) =>
      files.reduce((sum, { content }) => sum + content.byteLength, 0) <= largest
        ? undefined
        : `must have at most ${largest / MiB} MiB together, decoded`,
    { toJsonSchema: () => ({}) }
  )
).annotate({ description: `Up to ${most} files, ${largest / MiB} MiB together, decoded` })
