/** nodemailer's SMTP engine alone: the same envelope to one relay, one message after the other. */
import { Effect } from "effect"
import SMTPConnection from "nodemailer/lib/smtp-connection"

/** Sends a message when a connection is free. Calls `done` after the relay has accepted it. */
export type EngineSend = (message: Buffer, done: () => void) => void

interface Waiting {
  readonly message: Buffer
  readonly done: () => void
}

/** Opens connections to a relay. */
export const engineClient = Effect.fnUntraced(function*(
  { connections, from, port, to }: {
    readonly port: number
    readonly connections: number
    readonly from: string
    readonly to: string
  }
) {
  const waiting: Array<Waiting> = []
  const idle: Array<SMTPConnection> = []

  const next = (connection: SMTPConnection): void => {
    const current = waiting.shift()
    if (current === undefined) return void idle.push(connection)
    connection.send({ from, to: [to], size: current.message.length }, current.message, (error) => {
      if (error) throw error
      current.done()
      next(connection)
    })
  }

  const open = Effect.callback<SMTPConnection>((resume) => {
    const connection = new SMTPConnection({ host: "127.0.0.1", port, ignoreTLS: true })
    connection.on("error", (error) => resume(Effect.die(error)))
    connection.connect(() => {
      next(connection)
      resume(Effect.succeed(connection))
    })
  })

  yield* Effect.replicateEffect(
    Effect.acquireRelease(open, (connection) => Effect.sync(() => connection.close())),
    connections,
    { concurrency: "unbounded" }
  )
  const send: EngineSend = (message, done) => {
    waiting.push({ message, done })
    const connection = idle.pop()
    if (connection !== undefined) next(connection)
  }
  return send
})
