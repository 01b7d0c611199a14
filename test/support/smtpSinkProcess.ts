/**
 * The SMTP sink as a separate process, for tests that kill nodes. It follows `localPartScript`, prints
 * `{"smtp":PORT,"http":PORT}` when ready, ends with SIGTERM, and answers every GET with the accepted messages:
 * [{to, message_id, sha256}].
 */
import { Effect } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeHttp from "node:http"
import * as SmtpSink from "./SmtpSink.ts"

const listing = (sink: SmtpSink.SmtpSink) =>
  sink.messages.map(({ raw, to }) => ({
    to,
    message_id: /^message-id:\s*(<[^>]*>)/im.exec(raw.toString("latin1"))?.[1] ?? null,
    sha256: NodeCrypto.createHash("sha256").update(raw).digest("hex")
  }))

const program = Effect.gen(function*() {
  const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
  const http = NodeHttp.createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(listing(sink)))
  })
  http.listen(0, "127.0.0.1", () => {
    const address = http.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    console.log(JSON.stringify({ smtp: sink.port, http: port }))
  })
  return yield* Effect.never
})

process.once("SIGTERM", () => process.exit(0))
Effect.runFork(Effect.scoped(program))
