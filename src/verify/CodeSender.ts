import { Context, Effect, Layer } from "effect"
import { domainEvent, Events } from "../events/Events.ts"
import { maskOf } from "../platform/crypto/oneTimeCode.ts"
import { Database } from "../platform/database/Database.ts"
import { countersBy } from "../platform/observability/series.ts"
import type { Recipient } from "./Recipient.ts"
import type { Route } from "./routeTo.ts"
import { CodeChannel } from "./Verification.ts"
import { type StoredVerification, VerificationsRepo } from "./VerificationsRepo.ts"
import { end } from "./VerificationState.ts"
import { type ChannelRefusal, VerifyChannels } from "./VerifyChannel.ts"

const messageOf = (row: StoredVerification, to: Recipient) => ({
  accountId: row.account_id,
  to,
  seed: row.code_seed,
  words: {
    locale: row.locale,
    brandName: row.brand_name,
    mask: maskOf(row.code_seed),
    seconds: row.seconds_left
  },
  webDomain: row.web_domain,
  sessionId: row.session_id
})

const sends = countersBy({
  name: "verification_codes_sent_total",
  description: "One-time codes that were accepted and queued, by channel",
  label: "channel",
  values: CodeChannel.literals
})

const make = Effect.gen(function*() {
  const { afterCommit, transaction } = yield* Database
  const events = yield* Events
  const channels = yield* VerifyChannels
  const repo = yield* VerificationsRepo

  /** Sends the code by the first channel that accepts it. Rolls back the writes of the channels that refused. */
  const send = (
    row: StoredVerification,
    to: Recipient,
    [channel, ...left]: Route
  ): Effect.Effect<StoredVerification, ChannelRefusal> => {
    const [next, ...others] = left
    return transaction(channels[channel].send(messageOf(row, to))).pipe(
      Effect.flatMap((messageId) => repo.handedTo({ id: row.id, channel, seed: row.code_seed, messageId, left })),
      Effect.tap(afterCommit(Effect.sync(() => sends(channel)))),
      Effect.catch((refusal) => next === undefined ? Effect.fail(refusal) : send(row, to, [next, ...others]))
    )
  }

  /** Records and publishes the end of expired verifications, in the transaction that locks their rows. */
  const expire = Effect.fnUntraced(function*(rows: ReadonlyArray<StoredVerification>) {
    const ends = rows.flatMap((row) => {
      const status = end({ attempts: row.attempts, isOver: row.is_over, status: row.status })
      return status === undefined ? [] : [{ ...row, status }]
    })
    yield* repo.close(ends)
    yield* events.publish(ends.map(({ account_id, channel, expires_at, id, to }) =>
      domainEvent({
        accountId: account_id,
        event: "verify.expired",
        data: { verification_id: id, to, channel, expired_at: expires_at }
      })
    ))
  })

  return { send, expire }
})

/** Sends codes and records the end of verifications, for requests and periodic tasks. */
export class CodeSender extends Context.Service<CodeSender>()("messaging-service/verify/CodeSender", { make }) {
  static readonly layer = Layer.effect(CodeSender, make).pipe(Layer.provide(VerificationsRepo.layer))
}
