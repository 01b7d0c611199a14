import { Effect, Layer, Option, Schema } from "effect"
import { drawSeed, maskOf } from "../platform/crypto/oneTimeCode.ts"
import { Database } from "../platform/database/Database.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { makeHandOver } from "./CodeSender.ts"
import { Recipient } from "./Recipient.ts"
import { type StoredVerification, VerificationsRepo } from "./VerificationsRepo.ts"
import { VerifyChannels } from "./VerifyChannel.ts"

const most = 500

/**
 * Sends automatic verifications on by their next channel when the message that carried the code has failed, by one node
 * of the cluster. A new code goes: the old one may still arrive somewhere. Where no channel takes it, it stays as it is
 * until it expires.
 */
export const VerificationFallback = PeriodicTask.make(
  "VerificationFallback",
  "1 second",
  Effect.gen(function*() {
    const { transaction } = yield* Database
    const channels = yield* VerifyChannels
    const repo = yield* VerificationsRepo
    const { handOver } = yield* makeHandOver

    const sendOn = (seen: StoredVerification) =>
      transaction(Effect.gen(function*() {
        const asked = { accountId: seen.account_id, id: seen.id }
        const row = Option.getOrUndefined(yield* repo.byId(asked))
        const [next, ...left] = row?.channels_left ?? []
        // It was confirmed, ended or sent anew since it was looked at.
        if (row === undefined || next === undefined || row.status !== "pending") return
        if (row.message_id !== seen.message_id) return
        const to = yield* Effect.orDie(Schema.decodeEffect(Recipient)(row.to))
        yield* handOver({ ...row, code_seed: drawSeed(maskOf(row.code_seed).length) }, to, [next, ...left])
      }))

    const look = Effect.fnUntraced(function*(row: StoredVerification) {
      if (row.message_id === null) return
      const fate = yield* channels[row.channel].fateOf(row.account_id, row.message_id)
      if (fate === "arrived") yield* repo.arrived({ id: row.id, messageId: row.message_id })
      if (fate !== "failed") return
      yield* sendOn(row).pipe(
        Effect.catch((refusal) => Effect.logDebug("no channel is left for a code", refusal)),
        Effect.annotateLogs({ verification: row.id })
      )
    })
    yield* Effect.forEach(yield* repo.automatic(most), look, { discard: true })
  })
).pipe(Layer.provide(VerificationsRepo.layer))
