import { Context, Effect, Layer } from "effect"
import { Service } from "./Service.ts"
import { makeSmsc, type Smsc } from "./Smsc.ts"

/** The carrier of a node's SMS. */
export class Carrier extends Context.Service<Carrier, Smsc>()("messaging-service/test/support/Carrier") {
  /** A node that is bound to it, with a window of 7 and a rate of 40. */
  static readonly withNode = Layer.unwrap(
    Effect.map(
      Carrier,
      ({ url }) =>
        Service.layer({ env: { SMS_PROVIDER: "smpp", SMPP_URL: url, SMPP_WINDOW: "7", SMPP_MAX_PER_SECOND: "40" } })
    )
  ).pipe(Layer.provideMerge(Layer.effect(Carrier, makeSmsc())))
}
