import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import * as NodeHttp from "node:http"
import * as NodeNet from "node:net"
import * as NodeTimers from "node:timers/promises"
import { closeAfterGrace } from "../../../src/platform/net/closeAfterGrace.ts"

/** What arrives next, or nothing when the connection ends. */
const answerOn = async (socket: NodeNet.Socket) => {
  const [answer] = await Promise.race([once(socket, "data"), once(socket, "close").then(() => [""])])
  return String(answer)
}

const request = "GET / HTTP/1.1\r\nHost: here\r\n\r\n"

const listening = async () => {
  const server = NodeHttp.createServer((_request, response) => response.end("here"))
  closeAfterGrace(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return { server, port: typeof address === "object" && address !== null ? address.port : 0 }
}

describe("a server that closes after a grace", () => {
  it("answers requests on all connections that wait in the kernel when it closes", async () => {
    const { port, server } = await listening()
    const waiting = Array.from({ length: 50 }, () => NodeNet.connect(port, "127.0.0.1"))
    for (const socket of waiting) socket.write(request)
    const closed = once(server, "close")
    server.close()
    const answers = await Promise.all(waiting.map(answerOn))
    assert.deepStrictEqual(answers.filter((answer) => !answer.startsWith("HTTP/1.1 200 OK\r\n")), [])
    await closed
  })

  it("answers requests on connections that were open, and then closes those without a request", async () => {
    const { port, server } = await listening()
    const open = async () => {
      const accepted = once(server, "connection")
      const socket = NodeNet.connect(port, "127.0.0.1")
      await accepted
      return socket
    }
    const [used, fresh, silent] = [await open(), await open(), await open()]
    used.write(request)
    await answerOn(used)

    const closed = once(server, "close")
    server.close()
    while (server.listening) await NodeTimers.setImmediate()
    for (const socket of [used, fresh]) {
      socket.write(request)
      assert.match(await answerOn(socket), /^HTTP\/1\.1 200 OK\r\n/)
    }
    await Promise.all([used, fresh, silent].map((socket) => once(socket, "close")))
    await closed
    const refused = NodeNet.connect(port, "127.0.0.1")
    const [error] = await once(refused, "error")
    assert.strictEqual(Reflect.get(Object(error), "code"), "ECONNREFUSED")
  })

  it("closes no socket while connections arrive in each turn, and then all, although no turn of a busy process is short", async () => {
    const others = Array.from({ length: 4 }, () => NodeNet.createServer().listen(0, "127.0.0.1"))
    await Promise.all(others.map((other) => once(other, "listening")))
    const server = NodeHttp.createServer()
    server.removeAllListeners("connection")
    closeAfterGrace(server, others)
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    const lastArrival = performance.now() + 700
    let isOpen = true
    const busy = () => {
      const began = performance.now()
      if (began < lastArrival) server.emit("connection", new NodeNet.Socket())
      while (performance.now() < began + 1) continue
      if (isOpen) setImmediate(busy)
    }
    busy()
    await new Promise((resolve) => server.close(resolve))
    isOpen = false
    assert.isAbove(performance.now(), lastArrival)
    assert.deepStrictEqual([server, ...others].filter(({ listening }) => listening), [])
  })
})
