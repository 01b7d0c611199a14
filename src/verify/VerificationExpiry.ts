import { Effect } from "effect"
import { chore } from "../platform/cluster/chore.ts"
import { transaction } from "../platform/database/transaction.ts"
import { makeHandOver } from "./HandOver.ts"
import { makeVerificationsRepo } from "./VerificationsRepo.ts"

const most = 100

/**
 * Tells of codes that nobody entered in time, by one node of the cluster. Each unconfirmed verification is told of once,
 * as its row says so from the same transaction on; also one that was ended by wrong codes.
 */
export const VerificationExpiry = chore(
  "VerificationExpiry",
  "1 second",
  Effect.gen(function*() {
    const repo = yield* makeVerificationsRepo
    const { tellEnds } = yield* makeHandOver
    const page = transaction(Effect.gen(function*() {
      const rows = yield* Effect.orDie(repo.over(most))
      if (rows.length > 0) yield* tellEnds(rows)
      return rows.length === most
    }))
    while (yield* page) continue
  })
)
