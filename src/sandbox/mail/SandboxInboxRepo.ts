import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../../platform/database/Query.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** A mail of the inbox as lists show it. */
export const SandboxMailSummary = Schema.Struct({
  id: Schema.Int,
  /** The decoded From header: `Name <address>`. */
  from: Schema.String,
  to: Schema.String,
  subject: Schema.String,
  received_at: Timestamp
})
export type SandboxMailSummary = typeof SandboxMailSummary.Type

/** A mail of the inbox with the bytes that the server received. */
export const SandboxMail = Schema.Struct({
  ...SandboxMailSummary.fields,
  envelope_from: Schema.String,
  raw: Schema.Uint8Array
})
export type SandboxMail = typeof SandboxMail.Type

/** A mail to one recipient, to be stored. */
export interface NewMail {
  readonly envelopeFrom: string
  readonly recipient: string
  readonly sender: string
  readonly subject: string
  readonly raw: Uint8Array
}

const Filter = Schema.Struct({ to: Schema.UndefinedOr(Schema.String) })
const Window = Schema.Struct({ ...Filter.fields, limit: Schema.Int, offset: Schema.Int })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  // An index finds a whole address. A part of one scans all rows, which are few.
  const matching = ({ to = "" }: typeof Filter.Encoded) =>
    to === ""
      ? sql``
      : /.@./.test(to)
      ? sql`where recipient in (${to}, ${to.toLowerCase()})`
      : sql`where position(${to.toLowerCase()} in lower(recipient)) > 0`

  const page = Query.findAll({
    Request: Window,
    Result: SandboxMailSummary,
    execute: (request) =>
      sql`
        select id, sender as "from", recipient as "to", subject, received_at
        from sandbox_mails ${matching(request)} order by id desc limit ${request.limit} offset ${request.offset}
      `
  })

  const total = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`select count(*) as total from sandbox_mails ${matching(request)}`
  })

  const get = Query.findOneOption({
    Request: Schema.Int,
    Result: SandboxMail,
    execute: (id) =>
      sql`
        select id, envelope_from, sender as "from", recipient as "to", subject, received_at, raw
        from sandbox_mails where id = ${id}
      `
  })

  const insert = (mails: ReadonlyArray<NewMail>) => {
    const column = <A>(of: (mail: NewMail) => A) => mails.map(of)
    return Query.run(sql`
      insert into sandbox_mails (envelope_from, recipient, sender, subject, raw)
      select * from unnest(
        ${column((mail) => mail.envelopeFrom)}::text[], ${column((mail) => mail.recipient)}::text[],
        ${column((mail) => mail.sender)}::text[], ${column((mail) => mail.subject)}::text[],
        ${column((mail) => mail.raw)}::bytea[]
      )
    `)
  }

  /** Deletes all but the newest mails. */
  const prune = (keep: number) =>
    Query.run(sql`
      delete from sandbox_mails
      where id <= (select id from sandbox_mails order by id desc offset ${keep} limit 1)
    `)

  return { page, total, get, insert, prune }
})

/** SQL of `sandbox_mails`. */
export class SandboxInboxRepo extends Context.Service<SandboxInboxRepo>()(
  "messaging-service/sandbox/mail/SandboxInboxRepo",
  { make }
) {
  static readonly layer = Layer.effect(SandboxInboxRepo, make)
}
