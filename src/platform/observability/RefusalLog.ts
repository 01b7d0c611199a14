import { Effect, Layer } from "effect"
import { networkOf } from "../../values/IpAddress.ts"
import { type Refusal, Refusals } from "../http/RequestContext.ts"

/** Refusals of one client network for one reason that are logged one by one in a minute. */
const maxLines = 5

/** Pairs of a client network and a reason that are told apart in a minute. All others share one count. */
const maxPairs = 200

interface Pair {
  readonly facts: Readonly<Record<string, unknown>>
  count: number
}

const factsOf = ({ facts: request, method, reason, route, status }: Refusal) => {
  const { caller = {}, clientAddress, clientRequestId, requestId } = request
  const facts = {
    request_id: requestId,
    client_request_id: clientRequestId,
    client_address: clientAddress,
    method,
    route,
    status,
    reason,
    account_id: caller.accountId,
    key_id: caller.keyId,
    key_prefix: caller.keyPrefix,
    session_id: caller.sessionId
  }
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined && fact !== null))
}

/**
 * Logs who was refused, where and why. A flood of refusals does not flood the log: of a network and reason, it logs five a
 * minute one by one, then how many more there were.
 */
export const RefusalLog = Layer.effect(
  Refusals,
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const pairs = new Map<string, Pair>()
    const others: Pair = { facts: {}, count: 0 }

    const logRest = Effect.suspend(() => {
      const rest = [...pairs.values()].flatMap(({ count, facts }) =>
        count > maxLines ? [{ ...facts, count: count - maxLines }] : []
      )
      if (others.count > 0) rest.push({ count: others.count })
      pairs.clear()
      others.count = 0
      return Effect.forEach(
        rest,
        (facts) => Effect.annotateLogs(Effect.logInfo("more requests were refused"), facts),
        { discard: true }
      )
    })
    yield* Effect.addFinalizer(() => logRest)

    const pairOf = ({ facts: { clientAddress }, reason, status }: Refusal): Pair => {
      const client_network = networkOf(clientAddress)
      const key = `${client_network} ${status} ${reason}`
      const known = pairs.get(key)
      if (known !== undefined) return known
      if (pairs.size >= maxPairs) return others
      const pair = { facts: { client_network, status, ...(reason !== undefined && { reason }) }, count: 0 }
      pairs.set(key, pair)
      return pair
    }

    return Refusals.of({
      note: Effect.fnUntraced(function*(refusal) {
        if (pairs.size === 0) yield* Effect.forkIn(Effect.delay(logRest, "1 minute"), scope)
        const pair = pairOf(refusal)
        pair.count++
        if (pair === others || pair.count > maxLines) return
        yield* Effect.annotateLogs(Effect.logInfo("request refused"), factsOf(refusal))
      })
    })
  })
)
