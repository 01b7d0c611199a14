import { Duration, Effect, Exit } from "effect"
import type { Socket } from "node:net"
import { dotStuffed } from "./dotStuffed.ts"
import { refusalByUs } from "./mailCommands.ts"
import { mailTransaction } from "./mailTransaction.ts"
import type { TransactionEnd, Turn } from "./mailTransaction.ts"
import { printableLine } from "./parseReply.ts"
import { lostWith, refusedWith } from "./relayFailure.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown } from "./SmtpErrors.ts"
import type { SendFailure } from "./SmtpErrors.ts"
import { SmtpReplies } from "./SmtpReply.ts"
import type { SmtpSession } from "./SmtpSession.ts"

/** How long a relay may be silent; on the machine's clock, being that of a socket. */
export interface SilenceTimeouts {
  /** After any command. */
  readonly command: Duration.Duration
  /** After the final dot: too short makes duplicates, so it is what RFC 5321 4.5.3.2.6 asks for. */
  readonly finalReply: Duration.Duration
}

/** A connection on which the next thing to be said is MAIL. */
export interface OpenConnection {
  readonly socket: Socket
  readonly capabilities: SmtpCapabilities
  readonly timeouts: SilenceTimeouts
  /** However slowly a relay speaks: silence is broken by a byte now and then. */
  readonly within: {
    /** The time that a transaction may take. */
    readonly longest: Deadline
    /** The time for the answer to RSET and QUIT, where nothing is at stake. */
    readonly courtesy: Deadline
  }
}

/** Calls back when the time is over, unless what it returns was called before. */
type Deadline = (expire: () => void) => () => void

/**
 * Who waits for replies; `early` ones arrived before the message was begun that they would answer. What `hear` returns
 * completes it, once the connection is at rest or closed.
 */
interface Listener {
  readonly hear: (reply: string, early: boolean) => (() => void) | undefined
  readonly lose: (reason: string) => void
}

/** A message up to this size is written with its final dot; a larger one in pieces of it, as progress is seen by them. */
const onePiece = 64 * 1024

const finalDotLength = ".\r\n".length

/** How much of the message was given to the socket; `whole` from the moment at which the final dot was. */
type Said = "nothing" | "part" | "whole"

/** Speaks with a relay after EHLO and login: one mail transaction after the other, RSET and QUIT. */
export class SmtpConversation implements SmtpSession {
  readonly capabilities: SmtpCapabilities
  readonly #socket: Socket
  readonly #timeouts: SilenceTimeouts
  readonly #within: OpenConnection["within"]
  readonly #replies = new SmtpReplies()
  #listener: Listener | undefined
  #closed = false
  #said: Said = "nothing"

  constructor({ capabilities, socket, timeouts, within }: OpenConnection) {
    this.capabilities = capabilities
    this.#socket = socket
    this.#timeouts = timeouts
    this.#within = within
    socket.on("data", (chunk: Buffer) => this.#hear(chunk))
    socket.on("timeout", () => this.#lose("the relay was silent for too long"))
    socket.on("error", ({ message }) => this.#lose(message))
    socket.on("close", () => this.#lose("connection closed"))
    this.#silence(Duration.zero)
  }

  readonly usable = (): boolean => !this.#closed && this.#socket.writable

  readonly close = (): void => this.#lose("connection closed")

  readonly send = (mail: SmtpMail): Effect.Effect<Accepted, SendFailure> =>
    Effect.callback((resume) => {
      const refused = refusalByUs(mail, this.capabilities)
      if (refused !== undefined) return resume(Effect.fail(refused))
      if (!this.usable()) return resume(Effect.fail(lostWith("connection closed", false)))
      this.#said = "nothing"
      this.#silence(this.#timeouts.command)
      const transaction = mailTransaction(mail, this.capabilities.extensions)
      const inTime = this.#within.longest(() => this.#lose("the relay took too long"))
      const end = ({ exit, inStep }: TransactionEnd) => {
        inTime()
        this.#listener = undefined
        if (inStep) this.#silence(Duration.zero)
        else this.close()
        return () => resume(exit)
      }
      let refusal: SendFailure | undefined
      const go = ({ done, value }: IteratorResult<Turn, TransactionEnd>) => {
        if (done === true) return end(value)
        if (value._tag === "SayMessage") this.#sayMessage(dotStuffed(mail.message))
        else refusal = value.refused
        if (value._tag === "Say") this.#socket.write(value.commands)
        return undefined
      }
      this.#listener = {
        hear: (reply, early) =>
          early || this.#said === "part" ? end(answeredEarly(reply, this.#said)) : go(transaction.next(reply)),
        lose: (reason) => end({ exit: Exit.fail(refusal ?? lostWith(reason, this.#said === "whole")), inStep: false })()
      }
      go(transaction.next())
      return Effect.sync(() => {
        inTime()
        this.close()
      })
    })

  readonly reset: Effect.Effect<void> = Effect.suspend(() => this.#ask("RSET")).pipe(
    Effect.map((agreed) => agreed ? undefined : this.close())
  )

  readonly quit: Effect.Effect<void> = Effect.suspend(() => this.#ask("QUIT")).pipe(
    Effect.asVoid,
    Effect.ensuring(Effect.sync(this.close))
  )

  #ask(command: string): Effect.Effect<boolean> {
    return Effect.callback((resume) => {
      if (!this.usable()) return resume(Effect.succeed(false))
      const inTime = this.#within.courtesy(this.close)
      const answer = (agreed: boolean) => {
        inTime()
        this.#listener = undefined
        return () => resume(Effect.succeed(agreed))
      }
      this.#listener = { hear: (reply) => answer(reply.startsWith("2")), lose: () => answer(false)() }
      this.#socket.write(`${command}\r\n`)
      return Effect.sync(this.close)
    })
  }

  #sayMessage(bytes: Buffer): void {
    if (bytes.length > onePiece) return this.#sayPieces(bytes, 0)
    this.#socket.write(bytes)
    this.#saidWhole()
  }

  // The dot of a larger message waits until the rest has left: a relay that goes away before does not have it.
  #sayPieces(bytes: Buffer, from: number): void {
    const last = bytes.length - finalDotLength
    const to = Math.min(from + onePiece, last)
    this.#said = "part"
    this.#socket.write(bytes.subarray(from, to), (error) => {
      if (error || !this.usable()) return
      if (to < last) return this.#sayPieces(bytes, to)
      this.#socket.write(bytes.subarray(last))
      this.#saidWhole()
    })
  }

  #saidWhole(): void {
    this.#said = "whole"
    this.#silence(this.#timeouts.finalReply)
  }

  // A relay that says more than it was asked for is out of step with us for good.
  #hear(chunk: Buffer): void {
    const saidBefore = this.#said
    const replies = this.#replies.take(chunk)
    if (replies === undefined) return this.#lose("a reply of more than 64 kB")
    for (const [index, reply] of replies.entries()) {
      const listener = this.#listener
      if (listener === undefined) return this.close()
      const complete = listener.hear(reply, this.#said !== saidBefore)
      if (complete === undefined) continue
      if (index + 1 < replies.length || this.#replies.rest !== "") this.close()
      return complete()
    }
  }

  // What is still buffered is dropped: half a message that trickles out after an interruption could end in a delivery
  // nobody knows of.
  #lose(reason: string): void {
    const listener = this.#listener
    const { rest } = this.#replies
    this.#closed = true
    this.#listener = undefined
    this.#socket.destroy()
    listener?.lose(rest === "" ? reason : `${rest} (${reason})`)
  }

  #silence(longest: Duration.Duration): void {
    this.#socket.setTimeout(Duration.toMillis(longest))
  }
}

/** Of a message that has left whole nobody knows what will become of it, as its own answer is yet to come. */
const answeredEarly = (reply: string, said: Said): TransactionEnd => {
  const failure = said === "part" && !reply.startsWith("2")
    ? refusedWith(reply, "message")
    : new OutcomeUnknown({ reason: printableLine(`answered before the message was complete: ${reply}`) })
  return { exit: Exit.fail(failure), inStep: false }
}
