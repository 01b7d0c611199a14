import { Cause, Context, Effect, FiberSet, Layer } from "effect"
import { SMTPServer } from "smtp-server"
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server"
import { SandboxDelivery } from "./SandboxDelivery.ts"
import { type Refusal, refusalOf } from "./specialAddresses.ts"

/** Options of the sandbox's SMTP server. */
export interface SandboxMailServerOptions {
  /** 0, the default, picks a free port. */
  readonly port?: number
}

const maxMessageBytes = 25 * 1024 * 1024

type Done = (error?: Error | null, text?: string) => void

class SmtpReply extends Error {
  readonly responseCode: number
  constructor(code: number, text: string) {
    super(text)
    this.responseCode = code
  }
}

const refuse = ({ code, text }: Refusal) => new SmtpReply(code, text)

const read = (stream: SMTPServerDataStream) =>
  Effect.callback<Buffer>((resume) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => {
      if (!stream.sizeExceeded) chunks.push(chunk)
    })
    stream.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })

const makeReceive = Effect.gen(function*() {
  const { deliver } = yield* SandboxDelivery

  /** Refuses a complete message, or stores it. */
  return Effect.fn("SandboxMailServer.receive")(function*(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const raw = yield* read(stream)
    // The library refuses it.
    if (stream.sizeExceeded) return undefined
    const { mailFrom, rcptTo } = session.envelope
    const refusal = yield* deliver({
      account: null,
      envelopeFrom: mailFrom === false ? "" : mailFrom.address,
      recipients: rcptTo.map(({ address }) => address),
      raw
    })
    return refusal === undefined ? undefined : refuse(refusal)
  })
})

const makeServer = Effect.gen(function*() {
  const receive = yield* makeReceive
  const run = yield* FiberSet.makeRuntime<never>()
  const notStored = new SmtpReply(451, "4.3.0 The inbox could not store the message")
  return new SMTPServer({
    name: "sandbox",
    banner: "sandbox inbox, no mail leaves this machine",
    size: maxMessageBytes,
    rejectOversized: true,
    // The sandbox sends delivery reports about some addresses.
    hideDSN: false,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    maxAllowedUnauthenticatedCommands: false,
    logger: false,
    closeTimeout: 1_000,
    onRcptTo: ({ address }, _session, done) => {
      const refusal = refusalOf(address)
      done(refusal?.at === "recipient" ? refuse(refusal) : null)
    },
    onData: (stream, session, done: Done) => {
      run(
        receive(stream, session).pipe(
          Effect.catchCause((cause) =>
            Effect.as(Effect.logError("storing a mail in the sandbox inbox failed", Cause.squash(cause)), notStored)
          ),
          Effect.map((reply) => reply === undefined ? done(null, "2.0.0 Stored in the sandbox inbox") : done(reply))
        )
      )
    }
  })
})

const listen = (server: SMTPServer, port: number) =>
  Effect.callback<number>((resume) => {
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(port, "127.0.0.1", () => {
      // Later errors belong to single connections, which the library ends.
      server.on("error", () => {})
      const address = server.server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/**
 * The sandbox's SMTP server, which receives mail while no relay is configured. It listens on the loopback interface
 * only and needs no login. It accepts messages of up to 25 MiB, except to special addresses, and answers 250 after the
 * inbox has committed the message.
 */
export class SandboxMailServer extends Context.Service<SandboxMailServer, {
  /** The port on 127.0.0.1. */
  readonly port: number
}>()("messaging-service/sandbox/mail/SandboxMailServer") {
  static readonly layer = (options: SandboxMailServerOptions = {}) =>
    Layer.effect(
      SandboxMailServer,
      Effect.gen(function*() {
        const server = yield* makeServer
        const port = yield* Effect.acquireRelease(listen(server, options.port ?? 0), () =>
          Effect.callback<void>((resume) => server.close(() => resume(Effect.void))))
        return SandboxMailServer.of({ port })
      })
    )
}
