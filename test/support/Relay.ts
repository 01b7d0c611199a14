import { Context, Effect, Layer } from "effect"
import { type NodeOptions, Service, startNode } from "./Service.ts"
import * as SmtpSink from "./SmtpSink.ts"
import { TestDatabase } from "./TestDatabase.ts"

/** A node whose relay is an SMTP sink in the test's process, which follows `localPartScript`. */
export class Relay extends Context.Service<Relay, { readonly sink: SmtpSink.SmtpSink }>()(
  "messaging-service/test/support/Relay"
) {
  static readonly layer = (options: NodeOptions = {}) =>
    Layer.effect(Service, Effect.flatMap(Relay, ({ sink }) => startNode({ ...options, smtpPort: sink.port }))).pipe(
      Layer.provideMerge(
        Layer.effect(Relay, Effect.map(SmtpSink.make({ script: SmtpSink.localPartScript }), (sink) => ({ sink })))
      ),
      Layer.provideMerge(TestDatabase.layer)
    )
}
