import { Effect, Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeProcess from "node:process"
import * as NodeReadline from "node:readline"
import * as NodeUrl from "node:url"

/** A message as the sink process lists it. */
export const SinkMessage = Schema.Struct({
  to: Schema.Array(Schema.String),
  message_id: Schema.NullOr(Schema.String),
  sha256: Schema.String
})
export type SinkMessage = typeof SinkMessage.Type

const program = NodeUrl.fileURLToPath(new URL("../support/smtpSinkProcess.ts", import.meta.url))

const Ready = Schema.fromJsonString(Schema.Struct({ smtp: Schema.Int, http: Schema.Int }))

/** An SMTP server in a separate process, whose messages survive every node. */
export const sinkProcess = Effect.gen(function*() {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      NodeChildProcess.spawn(NodeProcess.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
    ),
    (started) => Effect.sync(() => started.kill("SIGKILL"))
  )
  const line = yield* Effect.callback<string>((resume) => {
    NodeReadline.createInterface({ input: child.stdout }).once("line", (text) => resume(Effect.succeed(text)))
  })
  const { http, smtp } = yield* Effect.orDie(Schema.decodeEffect(Ready)(line))
  const messages = Effect.promise((signal) =>
    fetch(`http://127.0.0.1:${http}/`, { signal }).then((response) => response.text())
  ).pipe(Effect.flatMap(Schema.decodeEffect(Schema.fromJsonString(Schema.Array(SinkMessage)))), Effect.orDie)
  return { port: smtp, messages }
})
