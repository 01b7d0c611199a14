import { Context } from "effect"
import type { Effect } from "effect"
import type { Admission } from "./RelayCircuit.ts"
import type { RelayUnavailable, SendFailure } from "./SmtpErrors.ts"

/** `single`: mail somebody waits for (codes, one-off mail); `bulk`: batches. A single never queues behind bulk. */
export type SmtpLane = "single" | "bulk"

/** Delivery notification wishes (RFC 3461), dropped silently when the relay does not offer DSN. */
export interface SmtpDsn {
  readonly envid: string
  readonly notify: ReadonlyArray<"SUCCESS" | "FAILURE" | "DELAY">
  /** How much of the message comes back with a failure. */
  readonly ret: "HDRS" | "FULL"
  /** The recipient as we know it, whatever mail servers on the way make of it. */
  readonly orcpt: string
}

/** One message to one recipient; `from` is "" for the null sender. The bytes are sent as they are, dot-stuffed. */
export interface SmtpMail {
  readonly envelope: { readonly from: string; readonly to: string; readonly dsn?: SmtpDsn }
  readonly message: Buffer
  readonly priority: SmtpLane
}

/** The relay took responsibility: `response` is its answer to the final dot, one printable line. */
export interface Accepted {
  readonly response: string
}

/** What the relay announced for an authenticated session. */
export interface SmtpCapabilities {
  /** Extension keywords in upper case (PIPELINING, DSN, ...). */
  readonly extensions: ReadonlyArray<string>
  readonly authMethods: ReadonlyArray<string>
  /** Largest message in bytes, undefined when the relay states none. */
  readonly maxSize: number | undefined
  /** Whether the session runs over TLS. */
  readonly tls: boolean
}

/** The relay that outgoing mail is handed to. */
export class Smtp extends Context.Service<Smtp, {
  /** Hands one message over and waits for the relay's final answer. Interruption abandons the connection in use. */
  readonly send: (mail: SmtpMail) => Effect.Effect<Accepted, SendFailure>
  /**
   * What a send would be told now. Who asks first claims, makes and signs nothing for a relay that is left alone; at
   * `Probe` one message may go, to find out whether the relay is back.
   */
  readonly admission: Effect.Effect<Admission>
  /** Opens a connection of its own, says EHLO, authenticates, quits. Neither pool nor pause have a say in it. */
  readonly verify: Effect.Effect<SmtpCapabilities, RelayUnavailable>
  /** What the newest session was offered; asks the relay when there was none yet. */
  readonly capabilities: Effect.Effect<SmtpCapabilities, RelayUnavailable>
}>()("messaging-service/channels/email/smtp/Smtp") {}
