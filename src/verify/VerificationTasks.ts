import { Effect, Layer, Option } from "effect"
import { drawSeed, maskOf } from "../platform/crypto/oneTimeCode.ts"
import { Database } from "../platform/database/Database.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { CodeSender } from "./CodeSender.ts"
import { storedRecipient } from "./Recipient.ts"
import { type AutomaticVerification, type StoredVerification, VerificationsRepo } from "./VerificationsRepo.ts"
import { VerifyChannels } from "./VerifyChannel.ts"

/** The most verifications in memory. */
const portion = 500

/**
 * Sends automatic verifications by their next channel if the previous message has failed, or has not arrived in time, on one
 * node of the cluster. After a failure it sends a new code. A late message may still arrive, so the next one has the same
 * code, and both are valid; one that still waits is withdrawn first. If no channel accepts the code, the verification
 * stays as it is until it expires.
 */
export const VerificationFallback = PeriodicTask.make(
  "VerificationFallback",
  "1 second",
  Effect.gen(function*() {
    const { transaction } = yield* Database
    const channels = yield* VerifyChannels
    const repo = yield* VerificationsRepo
    const sender = yield* CodeSender

    const sendByNext = (seen: StoredVerification, isLate: boolean) =>
      transaction(Effect.gen(function*() {
        const asked = { accountId: seen.account_id, id: seen.id }
        const row = Option.getOrUndefined(yield* repo.byId(asked))
        const [next, ...left] = row?.channels_left ?? []
        // The verification has changed since it was read.
        if (row === undefined || next === undefined || row.status !== "pending") return
        if (row.message_id !== seen.message_id) return
        const to = storedRecipient(row.to)
        if (isLate && row.message_id !== null) yield* channels[row.channel].withdraw(row.message_id)
        const code_seed = isLate ? row.code_seed : drawSeed(maskOf(row.code_seed).length)
        yield* sender.send({ ...row, code_seed }, to, [next, ...left])
      }))

    const check = Effect.fnUntraced(function*(row: AutomaticVerification) {
      if (row.message_id === null) return
      const status = yield* channels[row.channel].statusOf(row.account_id, row.message_id)
      if (status === "arrived") yield* repo.arrived({ id: row.id, messageId: row.message_id })
      if (status === "arrived" || status === "in_flight" && !row.is_late) return
      yield* sendByNext(row, status === "in_flight").pipe(
        Effect.catch((refusal) => Effect.logDebug("no channel left for a one-time code", refusal)),
        Effect.annotateLogs({ verification: row.id })
      )
    })
    let rows: ReadonlyArray<AutomaticVerification> = []
    do {
      rows = yield* repo.automatic({ after: rows.at(-1)?.id ?? "", limit: portion })
      yield* Effect.forEach(rows, check, { discard: true })
    } while (rows.length === portion)
  })
).pipe(Layer.provide(VerificationsRepo.layer))

const pageSize = 100

/**
 * Publishes the end of expired verifications on one node of the cluster, also of those that wrong codes ended. Each is
 * published once, because its row records the end in the same transaction.
 */
export const VerificationExpiry = PeriodicTask.make(
  "VerificationExpiry",
  "1 second",
  Effect.gen(function*() {
    const { transaction } = yield* Database
    const repo = yield* VerificationsRepo
    const sender = yield* CodeSender
    const page = transaction(Effect.gen(function*() {
      const rows = yield* repo.over(pageSize)
      if (rows.length > 0) yield* sender.expire(rows)
      return rows.length === pageSize
    }))
    while (yield* page) continue
  })
).pipe(Layer.provide(VerificationsRepo.layer))
