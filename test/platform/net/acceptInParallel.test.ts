import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import * as NodeHttp from "node:http"
import * as NodeNet from "node:net"
import { acceptInParallel, sharesPort } from "../../../src/platform/net/acceptInParallel.ts"
import { closeAfterGrace } from "../../../src/platform/net/closeAfterGrace.ts"

const listening = async (listener: NodeHttp.RequestListener) => {
  const server = NodeHttp.createServer(listener)
  closeAfterGrace(server, acceptInParallel(server, 512))
  server.listen({ host: "127.0.0.1", port: 0, reusePort: true })
  await once(server, "listening")
  const address = server.address()
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 }
}

/** Whether the kernel refuses a connection. */
const isRefused = async (port: number) => {
  const socket = NodeNet.connect(port, "127.0.0.1")
  const refused = await once(socket, "connect").then(() => false, () => true)
  socket.destroy()
  return refused
}

const request = "GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n"

describe.runIf(sharesPort)("a server that accepts in parallel", () => {
  it("accepts many connections in few turns of a busy event loop", async () => {
    const count = 64
    const { port, server } = await listening((_request, response) => response.end("here"))
    let turns = 0
    let accepted = 0
    const all = new Promise<void>((resolve) => {
      server.on("connection", () => {
        accepted++
        if (accepted === count) resolve()
      })
    })
    let isBusy = true
    const turn = () => {
      turns++
      if (isBusy) setImmediate(turn)
    }
    const clients = Array.from({ length: count }, () => NodeNet.connect(port, "127.0.0.1"))
    await new Promise((resolve) => process.nextTick(resolve))
    // Until the system has connected them all.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
    turn()
    await all
    isBusy = false
    assert.isBelow(turns, count / 2)
    for (const client of clients) client.destroy()
    await new Promise((resolve) => server.close(resolve))
  })

  it("answers on each of its sockets, and closes when all requests in flight have been answered", async () => {
    const held: Array<NodeHttp.ServerResponse> = []
    const { port, server } = await listening((_request, response) => void held.push(response))
    const answers = Array.from({ length: 40 }, async () => {
      const socket = NodeNet.connect(port, "127.0.0.1")
      socket.write(request)
      let text = ""
      for await (const chunk of socket) text += String(chunk)
      return text
    })
    while (held.length < answers.length) await once(server, "request")
    let hasClosed = false
    const closed = new Promise<void>((resolve) => {
      server.close(() => {
        hasClosed = true
        resolve()
      })
    })
    while (!await isRefused(port)) assert.isFalse(hasClosed)
    for (const response of held) {
      assert.isFalse(hasClosed)
      response.end("here")
      await once(response, "close")
    }
    for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
    await closed
  })
})
