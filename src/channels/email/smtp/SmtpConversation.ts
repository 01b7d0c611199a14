import { Duration, Effect, Exit } from "effect"
import type { Socket } from "node:net"
import type { StartDeadline } from "../../../platform/net/Deadlines.ts"
import { dotStuffed, mailTransaction, refuseLocally } from "./mailTransaction.ts"
import type { Step, TransactionEnd } from "./mailTransaction.ts"
import { failureOfDisconnect, failureOfReply } from "./relayFailure.ts"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import { OutcomeUnknown } from "./SmtpErrors.ts"
import type { SendFailure } from "./SmtpErrors.ts"
import { printableLine, ReplyReader } from "./SmtpReply.ts"

/** How long a relay may be silent, measured by the socket's own clock. */
export interface SilenceTimeouts {
  /** After any command. */
  readonly command: Duration.Duration
  /** After the final dot. A shorter one than RFC 5321 4.5.3.2.6 asks for causes duplicates. */
  readonly finalReply: Duration.Duration
}

/** A connection that is ready for MAIL. */
export interface OpenConnection {
  readonly socket: Socket
  readonly capabilities: SmtpCapabilities
  readonly timeouts: SilenceTimeouts
  /** Bounds for a relay that is never silent but never finishes either. */
  readonly deadlines: {
    /** For one mail transaction. */
    readonly transaction: StartDeadline
    /** For the replies to RSET and QUIT, which decide about no message. */
    readonly cleanup: StartDeadline
  }
}

/**
 * The code that waits for replies. An `early` reply arrived before the step that it would answer. The function that
 * `onReply` returns completes the exchange, once the connection is idle or closed.
 */
interface Listener {
  readonly onReply: (reply: string, early: boolean) => (() => void) | undefined
  readonly onDisconnect: (reason: string) => void
}

/** A message up to this size is one write with its final dot. A larger one is written in chunks of this size. */
const chunkSize = 64 * 1024

const finalDotLength = ".\r\n".length

/** How much of the message is written to the socket; `whole` includes the final dot. */
type Written = "nothing" | "part" | "whole"

/**
 * One authenticated connection to the relay, used by one sender at a time. Interrupting `send` or `reset` closes it,
 * because the next reply could belong to the interrupted command.
 */
export class SmtpConversation {
  readonly capabilities: SmtpCapabilities
  readonly #socket: Socket
  readonly #timeouts: SilenceTimeouts
  readonly #deadlines: OpenConnection["deadlines"]
  readonly #replies = new ReplyReader()
  #listener: Listener | undefined
  #closed = false
  #written: Written = "nothing"

  constructor({ capabilities, deadlines, socket, timeouts }: OpenConnection) {
    this.capabilities = capabilities
    this.#socket = socket
    this.#timeouts = timeouts
    this.#deadlines = deadlines
    socket.on("data", (chunk: Buffer) => this.#receive(chunk))
    socket.on("timeout", () => this.#disconnect("the relay was silent for too long"))
    socket.on("error", ({ message }) => this.#disconnect(message))
    socket.on("close", () => this.#disconnect("connection closed"))
    this.#allowSilence(Duration.zero)
  }

  /** False after either side closed the connection, or after a reply that no command asked for. */
  readonly usable = (): boolean => !this.#closed && this.#socket.writable

  /** Drops the connection at once. */
  readonly close = (): void => this.#disconnect("connection closed")

  /** Sends one message. After a `RecipientRefused` the connection needs a `reset` before the next message. */
  readonly send = (mail: SmtpMail): Effect.Effect<Accepted, SendFailure> =>
    Effect.callback((resume) => {
      const refused = refuseLocally(mail, this.capabilities)
      if (refused !== undefined) return resume(Effect.fail(refused))
      if (!this.usable()) return resume(Effect.fail(failureOfDisconnect("connection closed", false)))
      if (mail.lease?.begin() === false) return resume(Effect.interrupt)
      if (mail.transcript !== undefined) mail.transcript.relay = this.#socket.remoteAddress ?? null
      this.#written = "nothing"
      this.#allowSilence(this.#timeouts.command)
      const transaction = mailTransaction(mail, this.capabilities.extensions)
      const cancelDeadline = this.#deadlines.transaction(() => this.#disconnect("the relay took too long"))
      const end = ({ exit, inStep }: TransactionEnd) => {
        cancelDeadline()
        this.#listener = undefined
        if (inStep) this.#allowSilence(Duration.zero)
        else this.close()
        return () => resume(exit)
      }
      const mayFinish = () => {
        if (mail.lease?.isHeld() !== false) return true
        end({ exit: Exit.interrupt(), inStep: false })()
        return false
      }
      let refusal: SendFailure | undefined
      const perform = ({ done, value }: IteratorResult<Step, TransactionEnd>) => {
        if (done === true) return end(value)
        if (value._tag === "WriteMessage") {
          mail.transcript?.sentMessage(mail.message.length)
          this.#writeMessage(dotStuffed(mail.message), mayFinish)
        } else refusal = value.refused
        if (value._tag === "WriteCommands") {
          mail.transcript?.sent(value.commands)
          this.#socket.write(value.commands)
        }
        return undefined
      }
      this.#listener = {
        onReply: (reply, early) => {
          mail.transcript?.received(reply)
          return early || this.#written === "part"
            ? end(earlyReply(reply, this.#written))
            : perform(transaction.next(reply))
        },
        onDisconnect: (reason) => {
          const failure = refusal ?? failureOfDisconnect(reason, this.#written === "whole")
          end({ exit: Exit.fail(failure), inStep: false })()
        }
      }
      perform(transaction.next())
      return Effect.sync(() => {
        cancelDeadline()
        this.close()
      })
    })

  /** RSET. Closes the connection unless the relay agrees. */
  readonly reset: Effect.Effect<void> = Effect.suspend(() => this.#command("RSET")).pipe(
    Effect.map((agreed) => agreed ? undefined : this.close())
  )

  /** QUIT, then close. It awaits the reply only until the cleanup deadline. */
  readonly quit: Effect.Effect<void> = Effect.suspend(() => this.#command("QUIT")).pipe(
    Effect.asVoid,
    Effect.ensuring(Effect.sync(this.close))
  )

  #command(command: string): Effect.Effect<boolean> {
    return Effect.callback((resume) => {
      if (!this.usable()) return resume(Effect.succeed(false))
      const cancelDeadline = this.#deadlines.cleanup(this.close)
      const complete = (agreed: boolean) => {
        cancelDeadline()
        this.#listener = undefined
        return () => resume(Effect.succeed(agreed))
      }
      this.#listener = { onReply: (reply) => complete(reply.startsWith("2")), onDisconnect: () => complete(false)() }
      this.#socket.write(`${command}\r\n`)
      return Effect.sync(this.close)
    })
  }

  // `mayFinish` is asked right before the final dot is written.
  #writeMessage(bytes: Buffer, mayFinish: () => boolean): void {
    if (bytes.length > chunkSize) return this.#writeChunks(bytes, 0, mayFinish)
    if (!mayFinish()) return
    this.#socket.write(bytes)
    this.#wroteWhole()
  }

  // The final dot of a larger message waits until the rest has left: a relay that disconnects before does not have it.
  #writeChunks(bytes: Buffer, from: number, mayFinish: () => boolean): void {
    const last = bytes.length - finalDotLength
    const to = Math.min(from + chunkSize, last)
    this.#written = "part"
    this.#socket.write(bytes.subarray(from, to), (error) => {
      if (error || !this.usable()) return
      if (to < last) return this.#writeChunks(bytes, to, mayFinish)
      if (!mayFinish()) return
      this.#socket.write(bytes.subarray(last))
      this.#wroteWhole()
    })
  }

  #wroteWhole(): void {
    this.#written = "whole"
    this.#allowSilence(this.#timeouts.finalReply)
  }

  // A relay that sends more replies than commands is out of step, and the connection cannot recover.
  #receive(chunk: Buffer): void {
    const writtenBefore = this.#written
    const replies = this.#replies.take(chunk)
    if (replies === undefined) return this.#disconnect("a reply of more than 64 kB")
    for (const [index, reply] of replies.entries()) {
      const listener = this.#listener
      if (listener === undefined) return this.close()
      const complete = listener.onReply(reply, this.#written !== writtenBefore)
      if (complete === undefined) continue
      if (index + 1 < replies.length || this.#replies.rest !== "") this.close()
      return complete()
    }
  }

  // `destroy` drops the bytes still in the buffer: half a message that leaves after an interruption could be delivered
  // without a record of it.
  #disconnect(reason: string): void {
    const listener = this.#listener
    const { rest } = this.#replies
    this.#closed = true
    this.#listener = undefined
    this.#socket.destroy()
    listener?.onDisconnect(rest === "" ? reason : `${rest} (${reason})`)
  }

  #allowSilence(longest: Duration.Duration): void {
    this.#socket.setTimeout(Duration.toMillis(longest))
  }
}

/** After the whole message has left, an early reply says nothing about it: its own reply is still to come. */
const earlyReply = (reply: string, written: Written): TransactionEnd => {
  const failure = written === "part" && !reply.startsWith("2")
    ? failureOfReply(reply, "message")
    : new OutcomeUnknown({ reason: printableLine(`answered before the message was complete: ${reply}`) })
  return { exit: Exit.fail(failure), inStep: false }
}
