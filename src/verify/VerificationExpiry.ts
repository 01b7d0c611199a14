import { Effect, Layer } from "effect"
import { Database } from "../platform/database/Database.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { makeHandOver } from "./CodeSender.ts"
import { VerificationsRepo } from "./VerificationsRepo.ts"

const most = 100

/**
 * Tells of codes that nobody entered in time, by one node of the cluster. Each unconfirmed verification is told of once,
 * as its row says so from the same transaction on; also one that was ended by wrong codes.
 */
export const VerificationExpiry = PeriodicTask.make(
  "VerificationExpiry",
  "1 second",
  Effect.gen(function*() {
    const { transaction } = yield* Database
    const repo = yield* VerificationsRepo
    const { tellEnds } = yield* makeHandOver
    const page = transaction(Effect.gen(function*() {
      const rows = yield* repo.over(most)
      if (rows.length > 0) yield* tellEnds(rows)
      return rows.length === most
    }))
    while (yield* page) continue
  })
).pipe(Layer.provide(VerificationsRepo.layer))
