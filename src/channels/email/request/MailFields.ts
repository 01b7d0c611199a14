import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { sendFields } from "../../../messages/sendFields.ts"
import { filledSizes } from "../../../templates/filledSizes.ts"
import type { Template } from "../../../templates/Template.ts"
import type { Variables } from "../../../templates/TemplatePart.ts"
import { isMediaType } from "../../../values/mediaTypes.ts"
import { lineBetween, Text, textBetween } from "../../../values/Text.ts"
import { mailboxFor } from "./Mailbox.ts"
import { MailHeaders } from "./MailHeaders.ts"

const TemplateName = Schema.Union([Text, Schema.Finite]).annotate({
  description: "A stored template instead of html and text. Its number also works, but is deprecated"
})

const MailText = textBetween(1, 5_000_000)

/** The fields that single and bulk emails share. */
export const mailFields = {
  ...sendFields,
  headers: Schema.optionalKey(MailHeaders),
  from: Schema.optionalKey(
    mailboxFor("An address, or Name <address>, of a verified domain. Default: the service's default sender")
  ),
  from_name: Schema.optionalKey(
    lineBetween(1, 200).annotate({
      description: "The sender's name; replaces the name in from. The default sender adds its own: Shop via Example"
    })
  ),
  template_id: Schema.optionalKey(TemplateName),
  subject: Schema.optionalKey(
    lineBetween(1, 500).annotate({
      description:
        "Required without template_id; otherwise it replaces the template's subject. {{variables}} are filled in"
    })
  ),
  text: Schema.optionalKey(
    MailText.annotate({ description: "For readers without HTML. Default: made from html" })
  ),
  track_opens: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether to record opens; overrides the domain's setting" })
  ),
  track_clicks: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether to record clicks; overrides the domain's setting" })
  )
}

/** The `html` field; `required` says when it is required. */
export const htmlField = (required: string) =>
  Schema.optionalKey(MailText.annotate({ description: `${required}. {{variables}} are filled in and escaped` }))

/** The `warnings` field of an accepted mail: problems with its sender that did not stop it. */
export const Warnings = Schema.Array(Schema.String).annotate({
  description:
    "Problems that large receivers may have with this mail, by its domain's last DNS check and the service's settings"
})

const MiB = 1024 * 1024

/** Decoded bytes. A request body may have 10 MiB, and base64 turns 7 MiB into 9.4. */
const maxAttachmentBytes = 7 * MiB
const maxAttachments = 10

const base64 = /^[A-Za-z0-9+/]*={0,2}$/

/** Decodes base64, ignoring the line breaks that mail encoders insert. */
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
  filename: lineBetween(1, 255).annotate({ description: "The name that the reader sees" }),
  content: Base64,
  content_type: Schema.optionalKey(
    textBetween(1, 255).check(
      Schema.makeFilter(
        (text: string) =>
          isMediaType(text) ? undefined : "must be a media type, such as application/pdf or text/csv; charset=utf-8",
        { toJsonSchema: () => ({}) }
      )
    ).annotate({
      description:
        "A media type. Default: application/octet-stream, also for multipart and message types, which base64 would break"
    })
  )
})

/** The `attachments` field of a single email. */
export const AttachmentInputs = Schema.Array(AttachmentInput).check(
  Schema.isMaxLength(maxAttachments, { message: `must be at most ${maxAttachments} files` }),
  Schema.makeFilter(
    (files: ReadonlyArray<typeof AttachmentInput.Type>) =>
      files.reduce((sum, { content }) => sum + content.byteLength, 0) <= maxAttachmentBytes
        ? undefined
        : `must have at most ${maxAttachmentBytes / MiB} MiB together, decoded`,
    { toJsonSchema: () => ({}) }
  )
).annotate({ description: `Up to ${maxAttachments} files, ${maxAttachmentBytes / MiB} MiB together, decoded` })

/** The largest texts after their values are filled in. A value can occur in many places. */
const maxSizes = { subject: 2_000, html: 10 * MiB, text: 10 * MiB }

const parts = ["subject", "html", "text"] as const

/** A text that is too large with its values filled in, and its limit. */
export interface OversizedPart {
  readonly part: typeof parts[number]
  readonly limit: string
}

/**
 * Measures messages with their values filled in, without rendering them: their bytes, and the first text that is too
 * large.
 */
export const measure = (
  template: Template
): (variables: Variables) => { readonly bytes: number; readonly oversized: OversizedPart | undefined } => {
  const sizesOf = filledSizes(template)
  return (variables) => {
    const sizes = sizesOf(variables)
    const part = parts.find((name) => sizes[name] > maxSizes[name])
    return {
      bytes: sizes.subject + sizes.html + sizes.text,
      oversized: part && { part, limit: `at most ${maxSizes[part]} ${part === "subject" ? "characters" : "bytes"}` }
    }
  }
}
