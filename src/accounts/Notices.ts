import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../values/Ids.ts"

/** What the owner of an account is told by mail. */
export interface Notice {
  readonly accountId: AccountId
  readonly subject: string
  /** Plain text. */
  readonly body: string
}

/**
 * Mail to owners about their own account. It never travels by the webhook that it may be about: the email channel sends
 * it from the service's default sender.
 */
export class Notices extends Context.Service<Notices, {
  /** Writes the notice in the caller's transaction; it is sent after the commit. */
  readonly tell: (notice: Notice) => Effect.Effect<void>
}>()("messaging-service/accounts/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Notices.of({
        tell: ({ accountId, body, subject }) =>
          Effect.orDie(Effect.asVoid(
            sql`insert into account_notices (account_id, subject, body) values (${accountId}, ${subject}, ${body})`
          ))
      })
    })
  )
}
