import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { type Obstacle, obstacleOf, obstacles } from "../../../messages/scheduledRows.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import * as Query from "../../../platform/database/Query.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import { AccountId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { DefaultSender } from "../request/DefaultSender.ts"

const Obstacles = Schema.Literals(Object.keys(obstacles) as ReadonlyArray<Obstacle>)

/** The mail that is due. */
interface DueMail {
  readonly account_id: AccountId
  readonly from_address: EmailAddress
  /** Null if it was not scheduled. */
  readonly send_at: Timestamp | null
}

/** Checks again, when a scheduled mail is due, what its request was checked for. */
export class DueChecks extends Context.Service<DueChecks, {
  /** Why the mail must not be sent any more; undefined if nothing hinders it, or if it was not scheduled. */
  readonly obstacle: (mail: DueMail) => Effect.Effect<string | undefined>
}>()("messaging-service/channels/email/recipients/DueChecks") {
  static readonly layer = Layer.effect(
    DueChecks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { trialChannels } = yield* AppConfig
      const domains = yield* EmailDomains
      const standard = yield* DefaultSender

      const ofAccount = Query.findOneOption({
        Request: AccountId,
        Result: Schema.Struct({ reason: Schema.NullOr(Obstacles) }),
        execute: (id) =>
          sql`select ${obstacleOf(sql, "email", trialChannels)} as reason from accounts a where a.id = ${id}`
      })

      const found = Effect.fnUntraced(function*({ account_id, from_address }: DueMail) {
        const account = yield* ofAccount(account_id)
        const reason = Option.isNone(account) ? "account_deleted" : account.value.reason
        if (reason !== null) return obstacles[reason]
        if (from_address === standard.address) return undefined
        return yield* domains.requireVerified(account_id, from_address).pipe(
          Effect.as(undefined),
          Effect.catchTag("SenderNotVerified", () => Effect.succeed(obstacles.sender_not_verified))
        )
      })

      return DueChecks.of({
        obstacle: (mail) => mail.send_at === null ? Effect.undefined : retryWhileUnavailable(found(mail))
      })
    })
  )
}
