import { Duration, Effect, Exit } from "effect"
import type { Socket } from "node:net"
import { dotStuffed } from "./dotStuffed.ts"
import { refusalByUs } from "./mailCommands.ts"
import { endedBy, mailTransaction } from "./mailTransaction.ts"
import type { TransactionEnd, Turn } from "./mailTransaction.ts"
import { printableLine } from "./parseReply.ts"
import { lostWith, refusedWith } from "./relayFailure.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown } from "./SmtpErrors.ts"
import type { SendFailure } from "./SmtpErrors.ts"
import { SmtpReplies } from "./SmtpReplies.ts"
import type { SmtpSession } from "./SmtpSession.ts"

/** How long a relay may be silent; it runs on the machine's clock, being that of a socket. */
export interface SilenceTimeouts {
  /** After any command. */
  readonly command: Duration.Duration
  /** After the final dot: too short makes duplicates, so it is what RFC 5321 4.5.3.2.6 asks for. */
  readonly finalReply: Duration.Duration
  /** After RSET and QUIT, where nothing is at stake. */
  readonly courtesy: Duration.Duration
}

/** A connection on which the next thing to be said is MAIL. */
export interface OpenConnection {
  readonly socket: Socket
  readonly capabilities: SmtpCapabilities
  readonly timeouts: SilenceTimeouts
  /** Calls back after the longest time that a transaction may take, unless what it returns was called before. */
  readonly withinLongest: (expire: () => void) => () => void
}

/**
 * Who waits for replies; `early` ones arrived before the message was begun that they would answer. What `hear` returns
 * completes it, once the connection is at rest or closed.
 */
interface Listener {
  readonly hear: (reply: string, early: boolean) => (() => void) | undefined
  readonly lose: (reason: string) => void
}

/** A message up to this size is written in one piece with its final dot. */
const onePiece = 64 * 1024

const finalDotLength = ".\r\n".length

/** Speaks with a relay after EHLO and login: one mail transaction after the other, RSET and QUIT. */
export class SmtpConversation implements SmtpSession {
  readonly capabilities: SmtpCapabilities
  readonly #socket: Socket
  readonly #timeouts: SilenceTimeouts
  readonly #withinLongest: OpenConnection["withinLongest"]
  readonly #replies = new SmtpReplies()
  #listener: Listener | undefined
  #closed = false
  /** How much of the message was given to the socket; `whole` from the moment at which the final dot was. */
  #said: "nothing" | "part" | "whole" = "nothing"

  constructor({ capabilities, socket, timeouts, withinLongest }: OpenConnection) {
    this.capabilities = capabilities
    this.#socket = socket
    this.#timeouts = timeouts
    this.#withinLongest = withinLongest
    socket.on("data", (chunk: Buffer) => this.#hear(chunk))
    socket.on("timeout", () => this.#lose("the relay was silent for too long"))
    socket.on("error", ({ message }) => this.#lose(message))
    socket.on("close", () => this.#lose("connection closed"))
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
      const inTime = this.#withinLongest(() => this.#lose("the relay took too long"))
      const end = ({ exit, inStep }: TransactionEnd) => {
        inTime()
        this.#listener = undefined
        if (inStep) this.#silence(Duration.zero)
        else this.close()
        return () => resume(exit)
      }
      const go = ({ done, value }: IteratorResult<Turn, TransactionEnd>) => {
        if (done === true) return end(value)
        return this.#do(value, mail.message)
      }
      this.#listener = {
        hear: (reply, early) =>
          early || this.#said === "part" ? end(answeredEarly(reply)) : go(transaction.next(reply)),
        lose: (reason) => end({ exit: Exit.fail(lostWith(reason, this.#said === "whole")), inStep: false })()
      }
      go(transaction.next())
      return Effect.sync(() => {
        inTime()
        this.close()
      })
    })

  readonly reset: Effect.Effect<void> = Effect.suspend(() => this.#ask("RSET")).pipe(
    Effect.map((agreed) => agreed ? this.#silence(Duration.zero) : this.close())
  )

  readonly quit: Effect.Effect<void> = Effect.suspend(() => this.#ask("QUIT")).pipe(
    Effect.asVoid,
    Effect.ensuring(Effect.sync(this.close))
  )

  #ask(command: string): Effect.Effect<boolean> {
    return Effect.callback((resume) => {
      if (!this.usable()) return resume(Effect.succeed(false))
      this.#silence(this.#timeouts.courtesy)
      this.#listener = {
        hear: (reply) => {
          this.#listener = undefined
          return () => resume(Effect.succeed(reply.startsWith("2")))
        },
        lose: () => resume(Effect.succeed(false))
      }
      this.#socket.write(`${command}\r\n`)
      return Effect.sync(this.close)
    })
  }

  #do(turn: Turn, message: Buffer): undefined {
    if (turn._tag === "Say") this.#socket.write(turn.commands)
    if (turn._tag === "SayMessage") this.#sayMessage(dotStuffed(message))
  }

  // The dot of a larger message waits until the rest has left: a relay that goes away before does not have it.
  #sayMessage(bytes: Buffer): void {
    const withDot = () => {
      this.#said = "whole"
      this.#silence(this.#timeouts.finalReply)
    }
    if (bytes.length <= onePiece) {
      this.#socket.write(bytes)
      return withDot()
    }
    this.#said = "part"
    this.#socket.write(bytes.subarray(0, -finalDotLength), (error) => {
      if (error) return
      this.#socket.write(bytes.subarray(-finalDotLength))
      withDot()
    })
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

const answeredEarly = (reply: string): TransactionEnd => {
  const { exit } = endedBy(
    reply.startsWith("2")
      ? new OutcomeUnknown({ reason: printableLine(`answered before the message was complete: ${reply}`) })
      : refusedWith(reply, "message")
  )
  return { exit, inStep: false }
}
