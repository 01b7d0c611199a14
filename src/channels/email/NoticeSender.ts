import { DateTime, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { chore } from "../../platform/cluster/chore.ts"
import { domainOf, EmailAddress } from "../../values/EmailAddress.ts"
import { fromDateTime, Timestamp } from "../../values/Timestamp.ts"
import { type SendOutcome, settle } from "./BatchState.ts"
import { prepare } from "./compose.ts"
import { DefaultSender } from "./DefaultSender.ts"
import { Smtp } from "./Smtp.ts"

const Due = Schema.Struct({
  id: Schema.Int,
  to: EmailAddress,
  subject: Schema.String,
  body: Schema.String,
  attempt_count: Schema.Int,
  created_at: Timestamp
})

/**
 * Sends notices to owners, one node for all of them, ahead of bulk mail. A notice found unsent after a crash is sent
 * again with the same Message-ID, as every mail whose outcome nobody wrote down.
 */
export const NoticeSender = Layer.unwrap(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const smtp = yield* Smtp
  const sender = yield* DefaultSender
  const compose = prepare({ from: sender })

  const due = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Due,
    execute: () =>
      sql`select n.id, a.email as to, n.subject, n.body, n.attempt_count, n.created_at
        from account_notices n join accounts a on a.id = n.account_id
        where n.sent_at is null and n.due_at <= now() order by n.id limit 20`
  })

  const send = Effect.fnUntraced(function*(notice: typeof Due.Type) {
    const message = compose({
      to: notice.to,
      subject: notice.subject,
      text: notice.body,
      messageId: `notice.${notice.id}@${domainOf(sender.address)}`,
      date: DateTime.toEpochMillis(DateTime.makeUnsafe(notice.created_at))
    })
    const outcome = yield* smtp.send({
      envelope: { from: sender.address, to: notice.to },
      message,
      priority: "single"
    }).pipe(
      Effect.as<SendOutcome>({ _tag: "Accepted" }),
      Effect.catch((failure) => Effect.succeed<SendOutcome>(failure))
    )
    const { attempt_count, delay, error, status } = settle(notice.attempt_count, outcome)
    const sentAt = status === "sent" ? fromDateTime(yield* DateTime.now) : null
    const millis = delay === undefined ? null : Duration.toMillis(delay)
    yield* sql`update account_notices set attempt_count = ${attempt_count}, error = ${error}, sent_at = ${sentAt}::timestamptz,
      due_at = now() + ${millis}::float8 * interval '1 millisecond' where id = ${notice.id}`
  })

  return chore("NoticeSender", "1 second", Effect.flatMap(due(), Effect.forEach(send, { discard: true })))
}))
