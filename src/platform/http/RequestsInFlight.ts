import { Context, Effect, Layer } from "effect"
import { networkOf } from "../../values/IpAddress.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { ServiceUnavailable } from "./ApiErrors.ts"

/**
 * Bounds the requests in flight of this node, because each holds memory and has entries in the queues that it waits in. A
 * pipelining client can start any number of requests on one connection.
 */
export class RequestsInFlight extends Context.Service<RequestsInFlight, {
  /** Runs a request of a client's address. Fails at once when the address or the node has too many. */
  readonly ofAddress: <A, E, R>(
    address: string,
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ServiceUnavailable, R>
  /** Runs a request of an account, whatever its addresses are. Fails at once when the account has too many. */
  readonly ofAccount: <A, E, R>(
    accountId: number,
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | ServiceUnavailable, R>
}>()("messaging-service/platform/http/RequestsInFlight") {
  static readonly layer = Layer.effect(
    RequestsInFlight,
    Effect.map(AppConfig, ({ httpConnections, httpConnectionsPerAddress }) => {
      const counts = new Map<string, number>()
      let total = 0

      /** Takes a place, unless the holder has its share. */
      const enter = (holder: string) => {
        const count = (counts.get(holder) ?? 0) + 1
        if (count > httpConnectionsPerAddress) return false
        counts.set(holder, count)
        return true
      }
      const leave = (holder: string) => {
        const left = (counts.get(holder) ?? 1) - 1
        if (left === 0) counts.delete(holder)
        else counts.set(holder, left)
      }

      const ofAddress = <A, E, R>(address: string, request: Effect.Effect<A, E, R>) =>
        Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> => {
          const holder = networkOf(address)
          if (total >= httpConnections || !enter(holder)) return Effect.fail(new ServiceUnavailable())
          total++
          return Effect.ensuring(
            request,
            Effect.sync(() => {
              total--
              leave(holder)
            })
          )
        })

      const ofAccount = <A, E, R>(accountId: number, request: Effect.Effect<A, E, R>) =>
        Effect.suspend((): Effect.Effect<A, E | ServiceUnavailable, R> => {
          const holder = `account:${accountId}`
          if (!enter(holder)) return Effect.fail(new ServiceUnavailable())
          return Effect.ensuring(request, Effect.sync(() => leave(holder)))
        })

      return RequestsInFlight.of({ ofAddress, ofAccount })
    })
  )
}
