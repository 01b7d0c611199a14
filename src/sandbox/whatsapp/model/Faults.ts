/**
 * Faults of a session. Each fault happens once, unless `times` is larger.
 * - `drop-before-ack`: the server loses a message and drops the connection
 * - `drop-after-ack`: the server acknowledges and relays a message, then drops the connection
 * - `ack-error`: the server refuses a message with `code`, for example 463
 * - `no-ack`: the server ignores a message
 * - `lose-ack`: the server relays a message without acknowledging it
 * - `refuse-login`: a login ends in `<failure>` with `code`
 * - `stream-error`: a login ends in `<stream:error>` with `code`
 * - `corrupt`: a message to the session has a ciphertext that cannot be decrypted
 * - `absent`: a message to the session arrives without its content; only its phone has it
 * - `refuse-description`: the session may not change a group's description
 * - `ask-retry`: a phone cannot decrypt a message of the session and asks for a resend
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
  /** The default is 1. */
  readonly times?: number | undefined
}

interface Armed {
  readonly code: number
  remaining: number
}

/** Armed faults, by number. They are lost when the process ends. */
export class Faults {
  readonly #armed = new Map<string, Armed>()

  set(number: string, { code = 500, kind, times = 1 }: Fault): void {
    this.#armed.set(`${number}/${kind}`, { code, remaining: times })
  }

  clear(number: string): void {
    for (const key of this.#armed.keys()) if (key.startsWith(`${number}/`)) this.#armed.delete(key)
  }

  /** Uses up one occurrence of a fault. Returns its code, or undefined if the fault is not armed. */
  take(number: string, kind: FaultKind): number | undefined {
    const armed = this.#armed.get(`${number}/${kind}`)
    if (armed === undefined || armed.remaining <= 0) return undefined
    armed.remaining -= 1
    return armed.code
  }
}
