import { Effect, Option } from "effect"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { SandboxClosed, type SandboxReceiver, SandboxReceivers } from "./endpoint/SandboxReceiver.ts"
import { SandboxReceiverApi } from "./SandboxReceiverApi.ts"

const answer = (receiver: Option.Option<SandboxReceiver>) =>
  Option.isSome(receiver) ? Effect.succeed({ data: receiver.value }) : Effect.fail(new SandboxClosed())

/** Handlers of {@link SandboxReceiverApi}. */
export const SandboxReceiverHttp = endpointGroup(
  baseContract.add(SandboxReceiverApi),
  "sandboxReceiver",
  (handlers) =>
    Effect.gen(function*() {
      const receivers = yield* SandboxReceivers
      return handlers.handleAll({
        find: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return yield* answer(yield* receivers.find(accountId))
        }),
        change: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          return yield* answer(yield* receivers.change(accountId, payload.failing))
        })
      })
    })
)
