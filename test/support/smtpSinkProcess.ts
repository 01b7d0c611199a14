/**
 * The sink as a process of its own, for tests that kill the nodes: `node test/support/smtpSinkProcess.ts [SMTP_PORT]
 * [HTTP_PORT]`. It follows `localPartScript`, prints `{"smtp":PORT,"http":PORT}` when ready, ends with SIGTERM, and
 * answers `GET /` with {messages, connections, recipients: {address: {attempts, deliveries}}} and `GET /messages` with
 * [{from, to, message_id, sha256, answered}]. Option `--no-keep` forgets bodies (for benches; message_id is then null).
 */
import { Effect } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeHttp from "node:http"
import * as SmtpSink from "./SmtpSink.ts"

const [smtpPort = "0", httpPort = "0"] = process.argv.slice(2).filter((word) => !word.startsWith("--"))
const keep = !process.argv.includes("--no-keep")

const counts = (sink: SmtpSink.SmtpSink) => ({
  messages: sink.messages.length,
  connections: sink.connections,
  recipients: Object.fromEntries(
    [...sink.attempts].map(([address, attempts]) => [
      address,
      { attempts, deliveries: sink.deliveries.get(address) ?? 0 }
    ])
  )
})

const listing = (sink: SmtpSink.SmtpSink) =>
  sink.messages.map(({ answered, from, raw, to }) => ({
    from,
    to,
    message_id: /^message-id:\s*(<[^>]*>)/im.exec(raw.toString("latin1"))?.[1] ?? null,
    sha256: NodeCrypto.createHash("sha256").update(raw).digest("hex"),
    answered
  }))

const program = Effect.gen(function*() {
  const sink = yield* SmtpSink.make({ port: Number(smtpPort), keep, script: SmtpSink.localPartScript })
  const http = NodeHttp.createServer((request, response) => {
    const body = request.url === "/messages" ? listing(sink) : counts(sink)
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body))
  })
  http.listen(Number(httpPort), "127.0.0.1", () => {
    const address = http.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    console.log(JSON.stringify({ smtp: sink.port, http: port }))
  })
  return yield* Effect.never
})

process.once("SIGTERM", () => process.exit(0))
Effect.runFork(Effect.scoped(program))
