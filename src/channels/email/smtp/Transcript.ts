import type { Listening } from "./Smtp.ts"
import { printableLine } from "./SmtpReply.ts"

/** Most characters of a dialogue that are kept. */
const maxLength = 4096

/** Most characters that are collected for it: lines may become shorter. */
const maxCollected = 4 * maxLength

/**
 * The dialogue of one attempt to send a mail: the commands of its mail transaction and the relay's replies. The login
 * comes before, and the message is never written here, so it has neither credentials nor contents. It is made printable
 * when it is read, because the dialogues of most attempts are not kept.
 */
export class Transcript implements Listening {
  readonly #said: Array<{ readonly by: "C" | "S"; readonly text: string }> = []
  #collected = 0
  #began: number | undefined
  #ended = 0
  #reply: string | undefined
  /** The relay's address. */
  relay: string | null = null

  #add(by: "C" | "S", text: string): void {
    if (this.#collected >= maxCollected) return
    this.#collected += text.length
    this.#said.push({ by, text })
  }

  sent(commands: string): void {
    this.#began ??= performance.now()
    this.#add("C", commands)
  }

  received(reply: string): void {
    this.#ended = performance.now()
    this.#reply = reply
    this.#add("S", reply)
  }

  sentMessage(bytes: number): void {
    this.#add("C", `(${bytes} bytes)`)
  }

  /** From the first command to the last reply, in milliseconds; null if no command was sent. */
  get durationMs(): number | null {
    return this.#began === undefined ? null : Math.max(0, Math.round(this.#ended - this.#began))
  }

  /** The last reply, as one printable line. */
  get reply(): string | null {
    return this.#reply === undefined ? null : printableLine(this.#reply)
  }

  get dialogue(): string {
    const lines = this.#said.flatMap(({ by, text }) =>
      text.trimEnd().split(/\r?\n/).map((line) => `${by}: ${printableLine(line)}`)
    )
    return lines.join("\n").slice(0, maxLength).trimEnd()
  }
}
