/**
 * What a session can be made to suffer. Each is used up by one occurrence, unless armed for more.
 * - `drop-before-ack`: a message of the session is lost together with its line
 * - `drop-after-ack`: a message is acknowledged and conveyed, then the line is cut
 * - `ack-error`: a message is refused with `code`, 463 for example, and goes nowhere
 * - `no-ack`: a message is swallowed without an answer
 * - `lose-ack`: a message is conveyed, and its acknowledgement is lost
 * - `refuse-login`: a login ends in `<failure>` with `code`
 * - `stream-error`: a login ends in `<stream:error>` with `code`
 * - `corrupt`: a message to the session arrives with a ciphertext that nobody can decrypt
 * - `absent`: a message to the session arrives without its content, which its phone alone has
 * - `refuse-description`: the session may not describe a group
 * - `ask-retry`: a phone cannot read a message of the session, and asks for it again
 */
export type FaultKind =
  | "drop-before-ack"
  | "drop-after-ack"
  | "ack-error"
  | "no-ack"
  | "lose-ack"
  | "refuse-login"
  | "stream-error"
  | "corrupt"
  | "absent"
  | "refuse-description"
  | "ask-retry"

/** A fault for the sessions of a number. */
export interface Fault {
  readonly kind: FaultKind
  readonly code?: number | undefined
  /** How often; once when nothing is said. */
  readonly times?: number | undefined
}

interface Armed {
  readonly code: number
  left: number
}

/** The faults that are still to happen, by number. They do not outlive the process. */
export class Faults {
  readonly #armed = new Map<string, Armed>()

  set(number: string, { code = 500, kind, times = 1 }: Fault): void {
    this.#armed.set(`${number}/${kind}`, { code, left: times })
  }

  clear(number: string): void {
    for (const key of this.#armed.keys()) if (key.startsWith(`${number}/`)) this.#armed.delete(key)
  }

  /** The code of a fault that happens now, when it is armed. */
  take(number: string, kind: FaultKind): number | undefined {
    const armed = this.#armed.get(`${number}/${kind}`)
    if (armed === undefined || armed.left <= 0) return undefined
    armed.left -= 1
    return armed.code
  }
}
