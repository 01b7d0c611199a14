import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EmailDomains } from "../../../email-domains/EmailDomains.ts"
import { accountObstacle, obstacles } from "../../../messages/scheduledRows.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { AccountId } from "../../../values/Ids.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import { DefaultSender } from "../request/DefaultSender.ts"

/** The mail that is due. */
interface DueMail {
  readonly account_id: AccountId
  readonly from_address: EmailAddress
  /** Null if it was not scheduled. */
  readonly send_at: Timestamp | null
}

/** Whether an obstacle hinders an attempt. The first one is made when the mail is due; later ones only need the account. */
export const hinders = (obstacle: string | undefined, attemptsBefore: number): obstacle is string =>
  obstacle !== undefined && (attemptsBefore === 0 || obstacle === obstacles.account_deleted)

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

      const ofAccount = accountObstacle(sql, trialChannels)

      const found = Effect.fnUntraced(function*({ account_id, from_address }: DueMail) {
        const { reason } = yield* ofAccount({ accountId: account_id, channel: "email" })
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
