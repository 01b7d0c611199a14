import { Effect } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { created } from "../platform/http/RequestContext.ts"
import { SandboxFaults } from "./SandboxFault.ts"
import { SandboxFaultsApi } from "./SandboxFaultsApi.ts"

/** Handlers of {@link SandboxFaultsApi}. */
export const SandboxFaultsHttp = endpointGroup(
  baseContract.add(SandboxFaultsApi),
  "sandboxFaults",
  (handlers) =>
    Effect.gen(function*() {
      const faults = yield* SandboxFaults
      return handlers.handleAll({
        list: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* faults.list(accountId) }
        }),
        plan: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          const data = yield* faults.plan(accountId, payload.fault)
          yield* created("/v1/sandbox/faults")
          return { data }
        }),
        clear: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: { deleted: yield* faults.clear(accountId) } }
        })
      })
    })
)
