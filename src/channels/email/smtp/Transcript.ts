import type { Listening } from "./Smtp.ts"
import { printableLine } from "./SmtpReply.ts"

/** Most characters of a dialogue that are kept. */
const maxLength = 4096

/**
 * The dialogue of one attempt to send a mail: the commands of its mail transaction and the relay's replies. The login
 * comes before, and the message is never written here, so it has neither credentials nor contents.
 */
export class Transcript implements Listening {
  #lines = ""
  #began: number | undefined
  #ended = 0
  /** The relay's address. */
  relay: string | null = null
  /** The last reply, as one printable line. */
  reply: string | null = null

  #add(line: string): void {
    if (this.#lines.length < maxLength) this.#lines += `${line}\n`
  }

  sent(commands: string): void {
    this.#began ??= performance.now()
    for (const command of commands.split("\r\n")) if (command !== "") this.#add(`C: ${printableLine(command)}`)
  }

  received(reply: string): void {
    this.#ended = performance.now()
    this.reply = printableLine(reply)
    for (const line of reply.split("\n")) this.#add(`S: ${printableLine(line)}`)
  }

  sentMessage(bytes: number): void {
    this.#add(`C: (${bytes} bytes)`)
  }

  /** From the first command to the last reply, in milliseconds; null if no command was sent. */
  get durationMs(): number | null {
    return this.#began === undefined ? null : Math.max(0, Math.round(this.#ended - this.#began))
  }

  get dialogue(): string {
    return this.#lines.slice(0, maxLength).trimEnd()
  }
}
