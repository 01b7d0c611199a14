import { Cause, Context, Effect, FiberSet, Layer } from "effect"
import { SMTPServer } from "smtp-server"
import type { SMTPServerDataStream, SMTPServerSession } from "smtp-server"
import { readHeaders } from "./readMail.ts"
import { SandboxInbox } from "./SandboxInbox.ts"
import { SandboxReports } from "./SandboxReports.ts"
import { askedFailure } from "./specialAddresses.ts"
import type { AskedFailure } from "./specialAddresses.ts"

/** Settings of the sandbox's SMTP server. */
export interface SandboxMailServerOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number
}

const sizeLimit = 25 * 1024 * 1024

/** Messages that were deferred once, remembered by this process: enough for every mail the inbox can hold. */
const rememberedDeferrals = 10_000

type Done = (error?: Error | null, text?: string) => void

class SmtpReply extends Error {
  readonly responseCode: number
  constructor(code: number, text: string) {
    super(text)
    this.responseCode = code
  }
}

const refusal = ({ code, text }: AskedFailure) => new SmtpReply(code, text)

const read = (stream: SMTPServerDataStream) =>
  Effect.callback<Buffer>((resume) => {
    const chunks: Array<Buffer> = []
    stream.on("data", (chunk: Buffer) => {
      if (!stream.sizeExceeded) chunks.push(chunk)
    })
    stream.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  })

const makeReceive = Effect.gen(function*() {
  const inbox = yield* SandboxInbox
  const reports = yield* SandboxReports
  const deferred = new Set<string>()
  const deferOnce = (failure: AskedFailure, key: string) => {
    if (deferred.has(key)) return undefined
    if (deferred.size >= rememberedDeferrals) deferred.clear()
    deferred.add(key)
    return refusal(failure)
  }

  /** The refusal of a complete message, or its storing. */
  return Effect.fn("SandboxMailServer.receive")(function*(stream: SMTPServerDataStream, session: SMTPServerSession) {
    const raw = yield* read(stream)
    // Refused by the server itself, for its size.
    if (stream.sizeExceeded) return undefined
    const { mailFrom, rcptTo } = session.envelope
    const recipients = rcptTo.map(({ address }) => address)
    for (const recipient of recipients) {
      const failure = askedFailure(recipient)
      if (failure?.at === "message") return refusal(failure)
      if (failure?.at !== "later") continue
      const { messageId } = yield* readHeaders(raw)
      const refused = deferOnce(failure, `${recipient} ${messageId}`)
      if (refused !== undefined) return refused
    }
    const mail = { envelopeFrom: mailFrom === false ? "" : mailFrom.address, recipients, raw }
    yield* inbox.add(mail)
    yield* reports.note(mail)
    return undefined
  })
})

const makeServer = Effect.gen(function*() {
  const receive = yield* makeReceive
  const run = yield* FiberSet.makeRuntime<never>()
  const notStored = new SmtpReply(451, "4.3.0 The inbox could not store the message")
  return new SMTPServer({
    name: "sandbox",
    banner: "sandbox inbox, nothing leaves this machine",
    size: sizeLimit,
    rejectOversized: true,
    // It reports what came of mail, to some addresses (askedReport).
    hideDSN: false,
    disabledCommands: ["AUTH", "STARTTLS"],
    disableReverseLookup: true,
    maxAllowedUnauthenticatedCommands: false,
    logger: false,
    closeTimeout: 1_000,
    onRcptTo: ({ address }, _session, done) => {
      const failure = askedFailure(address)
      done(failure?.at === "recipient" ? refusal(failure) : null)
    },
    onData: (stream, session, done: Done) => {
      run(
        receive(stream, session).pipe(
          Effect.catchCause((cause) =>
            Effect.as(Effect.logError("Sandbox inbox failed", Cause.squash(cause)), notStored)
          ),
          Effect.map((refused) =>
            refused === undefined ? done(null, "2.0.0 Stored in the sandbox inbox") : done(refused)
          )
        )
      )
    }
  })
})

const listen = (server: SMTPServer, port: number) =>
  Effect.callback<number>((resume) => {
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(port, "127.0.0.1", () => {
      // From here on errors are those of single connections, which end by themselves.
      server.on("error", () => {})
      const address = server.server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : port))
    })
  })

/**
 * The SMTP server of the sandbox: where mail goes while no relay is configured. It listens on the loopback interface
 * only, wants no login, takes messages up to 25 MiB for any address but those that ask for a failure (`askedFailure`),
 * and answers 250 when the message is committed to the inbox.
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
