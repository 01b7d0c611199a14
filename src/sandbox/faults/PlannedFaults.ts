import { Effect, Layer, Option } from "effect"
import {
  channelFaults,
  FaultLimitReached,
  type FaultName,
  type FaultOf,
  maxPlanned,
  SandboxFaults
} from "../../messages/SandboxFault.ts"
import { Database } from "../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import type { AccountId } from "../../values/Ids.ts"
import { PlannedFaultsRepo } from "./PlannedFaultsRepo.ts"

/** The faults that test accounts have planned. */
export const PlannedFaults = Layer.effect(
  SandboxFaults,
  Effect.gen(function*() {
    const repo = yield* PlannedFaultsRepo
    const { transaction } = yield* Database

    const plan = Effect.fn("PlannedFaults.plan")(function*(accountId: AccountId, fault: FaultName) {
      yield* repo.lock(accountId)
      const planned = yield* repo.insert({ accountId, fault, limit: maxPlanned })
      return Option.isSome(planned) ? planned.value : yield* new FaultLimitReached({ limit: maxPlanned })
    })

    return SandboxFaults.of({
      list: repo.list,
      plan: (accountId, fault) => transaction(plan(accountId, fault)),
      clear: repo.clear,
      // The cast is true, because the statement returns a fault of the channel only.
      take: <C extends keyof typeof channelFaults>(accountId: AccountId, channel: C) =>
        Effect.map(
          retryWhileUnavailable(repo.take({ accountId, faults: channelFaults[channel] })),
          (taken) => Option.getOrUndefined(Option.map(taken, ({ fault }) => fault as FaultOf<C>))
        )
    })
  })
).pipe(Layer.provide(PlannedFaultsRepo.layer))
