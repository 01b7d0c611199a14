import { Effect, Result } from "effect"
import * as NodeNet from "node:net"
import { parseHttpsUrl } from "../../src/values/HttpsUrl.ts"

/** How many ports a worker of the tests has: no two take the same one between this look and its use. */
const share = 900

/** One port after the other, so that two looks of a worker do not find the same one. */
let looks = Math.floor(Math.random() * share)

/** Whether the URL of a webhook may have this port: some ports belong to other protocols. */
const isAllowed = (port: number) => Result.isSuccess(parseHttpsUrl(`http://127.0.0.1:${port}`, { allowLoopback: true }))

/**
 * A free port, for programs that need a port number at the start. It is outside the system's ephemeral range and that of the
 * cluster's ports, so that neither an outgoing connection nor a node can take it meanwhile.
 */
export const freePort: Effect.Effect<number> = Effect.suspend(() => {
  const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % 10
  const port = 10_000 + worker * 1_000 + looks++ % share
  return Effect.callback<boolean>((resume) => {
    const server = NodeNet.createServer()
    server.once("error", () => resume(Effect.succeed(false)))
    server.listen(port, "127.0.0.1", () => server.close(() => resume(Effect.succeed(true))))
  }).pipe(Effect.flatMap((free) => free && isAllowed(port) ? Effect.succeed(port) : freePort))
})
