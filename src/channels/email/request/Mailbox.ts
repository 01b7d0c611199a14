import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { violationsOf } from "../../../platform/http/violations.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { lineBetween } from "../../../values/Text.ts"

// RFC 5322 specials that make an unquoted name ambiguous: a second address, a quote, a route.
const needsQuotes = /[,;<>"\\]/

// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Room for a name of 200 escaped characters and an address. */
const maxLength = 700

const quoted = /^"((?:[^"\\]|\\.)*)"$/

/** Reads the display name without its quotes and backslashes. */
const readName = (text: string): Result.Result<string, string> => {
  const inner = quoted.exec(text)?.[1]
  if (inner !== undefined) return Result.succeed(inner.replaceAll(/\\(.)/g, "$1").trim())
  return needsQuotes.test(text)
    ? Result.fail("must have its display name in double quotes, as in \"Example, Inc.\" <name@example.com>")
    : Result.succeed(text)
}

/** Splits `Name <address>` or `address` without checking the address. */
const split = (text: string): Result.Result<{ readonly name?: string; readonly address: string }, string> => {
  if (control.test(text)) return Result.fail("must not contain line breaks or control characters")
  if (text.length > maxLength) return Result.fail(`must have at most ${maxLength} characters`)
  const trimmed = text.trim()
  if (!trimmed.endsWith(">")) return Result.succeed({ address: trimmed })
  const open = trimmed.lastIndexOf("<")
  if (open < 0) return Result.fail("must be written as Name <name@example.com>")
  const address = trimmed.slice(open + 1, -1)
  return Result.map(
    readName(trimmed.slice(0, open).trim()),
    (name) => name === "" ? { address } : { name, address }
  )
}

/** Writes `Name <address>` with the quotes that RFC 5322 requires. The composer encodes it for a header. */
const join = (mailbox: { readonly name?: string; readonly address: string }): string =>
  mailbox.name === undefined ? mailbox.address : `"${mailbox.name.replaceAll(/["\\]/g, "\\$&")}" <${mailbox.address}>`

const Name = lineBetween(1, 200)
const Parts = Schema.Struct({ name: Schema.optionalKey(Name), address: Schema.toType(EmailAddress) })

const decodeName = Schema.decodeResult(Name)
const decodeAddress = Schema.decodeResult(EmailAddress)

const faultOf = ({ issue }: Schema.SchemaError): string => violationsOf(issue)[0]?.message ?? "must be an address"

/** Reports a part's fault for the whole text: the caller wrote one text and knows no field of that part's name. */
const read = (text: string): Result.Result<typeof Parts.Type, string> => {
  const written = split(text)
  if (Result.isFailure(written)) return Result.fail(written.failure)
  const address = Result.mapError(decodeAddress(written.success.address), faultOf)
  if (Result.isFailure(address)) return Result.fail(address.failure)
  if (written.success.name === undefined) return Result.succeed({ address: address.success })
  return Result.mapBoth(decodeName(written.success.name), {
    onSuccess: (name) => ({ name, address: address.success }),
    onFailure: (error) => `has an invalid display name: it ${faultOf(error)}`
  })
}

/**
 * An address of a recipient. As other services do, it accepts `Name <address>`. A record and an event name the address
 * alone, so the name is dropped.
 */
export const AddressInput = Schema.String.annotate({ description: "An address, or Name <address>" }).pipe(
  Schema.decodeTo(
    Schema.toType(EmailAddress),
    SchemaTransformation.transformEffect({
      decode: (text, options) =>
        Effect.fromResult(Result.mapBoth(read(text), {
          onSuccess: ({ address }) => address,
          onFailure: (message) => new SchemaIssue.InvalidValue({ message }, text, options)
        })),
      encode: (address) => Effect.succeed(address)
    })
  )
)

/** A {@link Mailbox} with a description. Annotating the decoded schema would not reach the API document. */
export const mailboxFor = (description: string) =>
  Schema.String.annotate({ description }).pipe(
    Schema.decodeTo(
      Parts,
      SchemaTransformation.transformEffect({
        decode: (text, options) =>
          Effect.fromResult(
            Result.mapError(read(text), (message) => new SchemaIssue.InvalidValue({ message }, text, options))
          ),
        encode: (parts) => Effect.succeed(join(parts))
      })
    )
  )

/** A sender as `Name <address>` or `address` (RFC 5322 mailbox), decoded to its name and address. */
export const Mailbox = mailboxFor("An address, or Name <address>")
export type Mailbox = typeof Mailbox.Type
