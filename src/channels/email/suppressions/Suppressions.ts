import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { EmailMessageId } from "../../../values/Ids.ts"

const Message = Schema.Struct({ recipient: Schema.String })

/** Addresses that an account must not write to again. */
export class Suppressions extends Context.Service<Suppressions, {
  /** The address that a message went to; nothing when the message is gone. */
  readonly recipientOf: (id: EmailMessageId) => Effect.Effect<Option.Option<string>>
  /** The recipient of a message leaves its sender (RFC 8058); again and again changes nothing. */
  readonly unsubscribe: (id: EmailMessageId) => Effect.Effect<void>
}>()("messaging-service/channels/email/suppressions/Suppressions") {
  static readonly layer = Layer.effect(
    Suppressions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const recipient = SqlSchema.findOneOption({
        Request: EmailMessageId,
        Result: Message,
        execute: (id) => sql`select recipient from email_messages where id = ${id}`
      })
      const unsubscribe = (id: EmailMessageId) =>
        sql`insert into suppressions (account_id, email, reason, source_message_id)
          select account_id, lower(recipient), 'unsubscribe', id from email_messages where id = ${id}
          on conflict do nothing`
      return Suppressions.of({
        recipientOf: (id) => Effect.orDie(Effect.map(recipient(id), Option.map((row) => row.recipient))),
        unsubscribe: (id) => Effect.orDie(Effect.asVoid(unsubscribe(id)))
      })
    })
  )
}
