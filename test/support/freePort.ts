import { Effect } from "effect"
import * as NodeNet from "node:net"

/** A port of this machine that nobody has right now, for programs that have to be told one. */
export const freePort = Effect.callback<number>((resume) => {
  const server = NodeNet.createServer().listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})
