/** A minimal SMTP client, which only checks reply digits. */
import { Effect } from "effect"
import * as NodeNet from "node:net"

/** Sends a message with its final dot when a connection is free. Calls `done` after the relay has accepted it. */
export type RawSend = (body: Buffer, done: () => void) => void

interface Waiting {
  readonly body: Buffer
  readonly done: () => void
}

/** Adds the final dot to a message. */
export const withDot = (message: Buffer) => Buffer.concat([message, Buffer.from(".\r\n")])

/** Opens connections to a relay. Each sends a message in two writes: the envelope with DATA, then the body. */
export const rawClient = Effect.fnUntraced(function*(
  { connections, from, port, to }: {
    readonly port: number
    readonly connections: number
    readonly from: string
    readonly to: string
  }
) {
  const envelope = Buffer.from(`MAIL FROM:<${from}>\r\nRCPT TO:<${to}>\r\nDATA\r\n`)
  const waiting: Array<Waiting> = []
  const idle: Array<() => void> = []

  const open = Effect.callback<NodeNet.Socket>((resume) => {
    const socket = NodeNet.connect(port, "127.0.0.1")
    socket.setNoDelay(true)
    let current: Waiting | undefined
    const next = () => {
      current = waiting.shift()
      if (current === undefined) idle.push(next)
      else socket.write(envelope)
    }
    socket.on("data", (chunk) => {
      for (const reply of chunk.toString("latin1").split("\r\n")) {
        if (reply.startsWith("220")) socket.write("EHLO bench\r\n")
        else if (reply.startsWith("354")) socket.write(current?.body ?? "")
        else if (/^[45]/.test(reply)) resume(Effect.die(reply))
        else if (/queued/.test(reply)) {
          current?.done()
          next()
        } else if (reply.startsWith("250 ") && current === undefined) {
          resume(Effect.succeed(socket))
          next()
        }
      }
    })
    socket.on("error", (error) => resume(Effect.die(error)))
  })

  yield* Effect.replicateEffect(
    Effect.acquireRelease(open, (socket) => Effect.sync(() => socket.destroy())),
    connections,
    { concurrency: "unbounded" }
  )
  const send: RawSend = (body, done) => {
    waiting.push({ body, done })
    idle.pop()?.()
  }
  return send
})
