import { Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { readHeaders } from "./readMail.ts"
import { SandboxInbox, SandboxMail, SandboxMailSummary } from "./SandboxInbox.ts"
import type { ReceivedMail } from "./SandboxInbox.ts"

/** Mails kept when nothing else is said. */
const newest = 10_000

/** Messages of one insert: enough to share a commit, few enough to hold in memory when they are large. */
const mostPerInsert = 50

interface Row {
  readonly envelopeFrom: string
  readonly recipient: string
  readonly sender: string
  readonly subject: string
  readonly raw: Uint8Array
}

const rowsOf = Effect.fnUntraced(function*({ envelopeFrom, raw, recipients }: ReceivedMail) {
  const { sender, subject } = yield* readHeaders(raw)
  return recipients.map((recipient): Row => ({ envelopeFrom, recipient, sender, subject, raw }))
})

const Filter = Schema.Struct({ to: Schema.UndefinedOr(Schema.String) })
const Window = Schema.Struct({ ...Filter.fields, limit: Schema.Int, offset: Schema.Int })

const makeReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // A whole address is found by the index, a part of one in all rows, which are few.
  const matching = ({ to = "" }: typeof Filter.Encoded) =>
    to === ""
      ? sql``
      : /.@./.test(to)
      ? sql`where recipient in (${to}, ${to.toLowerCase()})`
      : sql`where position(${to.toLowerCase()} in lower(recipient)) > 0`
  const page = SqlSchema.findAll({
    Request: Window,
    Result: SandboxMailSummary,
    execute: (request) =>
      sql`
        select id, sender as "from", recipient as "to", subject, received_at
        from sandbox_mails ${matching(request)} order by id desc limit ${request.limit} offset ${request.offset}
      `
  })
  const total = SqlSchema.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (request) => sql`select count(*) as total from sandbox_mails ${matching(request)}`
  })
  const one = SqlSchema.findOneOption({
    Request: Schema.Int,
    Result: SandboxMail,
    execute: (id) =>
      sql`
        select id, envelope_from, sender as "from", recipient as "to", subject, received_at, raw
        from sandbox_mails where id = ${id}
      `
  })
  return { page, total, one }
})

const makeWrites = (keep: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    let sincePruned = 0
    const prune = Effect.gen(function*() {
      sincePruned = 0
      yield* sql`
        delete from sandbox_mails
        where id <= (select id from sandbox_mails order by id desc offset ${keep} limit 1)
      `
    })
    const insert = Effect.fn("SandboxInboxRepo.insert")(function*(messages: ReadonlyArray<ReceivedMail>) {
      const rows = (yield* Effect.forEach(messages, rowsOf)).flat()
      const column = <A>(of: (row: Row) => A) => rows.map(of)
      yield* sql`
        insert into sandbox_mails (envelope_from, recipient, sender, subject, raw)
        select * from unnest(
          ${column((row) => row.envelopeFrom)}::text[], ${column((row) => row.recipient)}::text[],
          ${column((row) => row.sender)}::text[], ${column((row) => row.subject)}::text[],
          ${column((row) => row.raw)}::bytea[]
        )
      `
      sincePruned += rows.length
      // Not at every insert: the oldest id to keep is found by reading an index over all rows.
      if (sincePruned >= keep / 20) yield* prune
      return messages.map(() => undefined)
    })
    return yield* GroupCommit.make({ maxSize: mostPerInsert, concurrency: 2, run: insert })
  })

/**
 * The inbox in the table `sandbox_mails`. It holds the newest `keep` mails, and up to a twentieth more until it is
 * pruned. Messages that arrive together share an insert; each is told only once its own is committed.
 */
const layer = (options: { readonly keep?: number } = {}): Layer.Layer<SandboxInbox, never, SqlClient.SqlClient> =>
  Layer.effect(
    SandboxInbox,
    Effect.gen(function*() {
      const reads = yield* makeReads
      const add = yield* makeWrites(options.keep ?? newest)
      return SandboxInbox.of({
        add: (mail) => Effect.orDie(add(mail)),
        list: Effect.fn("SandboxInboxRepo.list")(function*({ page, per_page, to }) {
          const { total } = yield* reads.total({ to })
          return { rows: yield* reads.page({ to, limit: per_page, offset: (page - 1) * per_page }), total }
        }, Effect.orDie),
        get: Effect.fn("SandboxInboxRepo.get")(function*(id: number) {
          return yield* reads.one(id)
        }, Effect.orDie),
        count: Effect.orDie(Effect.map(reads.total({ to: undefined }), ({ total }) => total))
      })
    })
  )

/** SQL implementation of the `SandboxInbox` port. */
export const SandboxInboxRepo = { layer } as const
