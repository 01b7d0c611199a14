import { Context } from "effect"
import type { Effect, Redacted } from "effect"
import type { Lease } from "../../../platform/work/WorkPolicy.ts"
import type { AccountId } from "../../../values/Ids.ts"
import type { Admission } from "./RelayCircuit.ts"
import type { RelayUnavailable, SendFailure } from "./SmtpErrors.ts"

/** How to reach a relay. */
export interface RelayAddress {
  readonly host: string
  readonly port: number
  /** `implicit`: TLS from the first byte; `required`: STARTTLS or no mail; `offered`: STARTTLS if the relay offers it. */
  readonly tls: "implicit" | "required" | "offered" | "never"
  /** False accepts any certificate. */
  readonly verifyCertificate: boolean
  readonly credentials?: { readonly user: string; readonly password: Redacted.Redacted<string> }
}

/**
 * `urgent`: one-time codes and security notices; `single`: other mail that a person waits for; `bulk`: batches. Each has
 * connections that the later ones never use.
 */
export type SmtpLane = "urgent" | "single" | "bulk"

/** The delivery reports that a message asks for (RFC 3461). They are left out when the relay does not offer DSN. */
export interface SmtpDsn {
  readonly envid: string
  readonly notify: ReadonlyArray<"SUCCESS" | "FAILURE" | "DELAY">
  /** How much of the message a failure report returns. */
  readonly ret: "HDRS" | "FULL"
  /** The recipient's address before any mail server rewrites it. */
  readonly orcpt: string
}

/** Takes down what both sides of a mail transaction say. */
export interface Listening {
  relay: string | null
  readonly sent: (commands: string) => void
  readonly sentMessage: (bytes: number) => void
  readonly received: (reply: string) => void
}

/** One message to one recipient; `from` is "" for the null sender. The bytes are sent unchanged but dot-stuffed. */
export interface SmtpMail {
  readonly envelope: { readonly from: string; readonly to: string; readonly dsn?: SmtpDsn }
  readonly message: Buffer
  readonly priority: SmtpLane
  /** Whose mail it is: accounts take turns. Null for mail of the service itself. */
  readonly account: AccountId | null
  /** The claim that this send is the attempt of, asked right before MAIL and before the final dot. */
  readonly lease?: Lease
  readonly transcript?: Listening
}

/** The relay accepted the message: `response` is its reply to the final dot, as one printable line. */
export interface Accepted {
  readonly response: string
}

/** What the relay offers on an authenticated connection. */
export interface SmtpCapabilities {
  /** Extension keywords in upper case (PIPELINING, DSN, ...). */
  readonly extensions: ReadonlyArray<string>
  readonly authMethods: ReadonlyArray<string>
  /** Largest message in bytes, undefined when the relay states none. */
  readonly maxSize: number | undefined
  /** Whether the connection runs over TLS. */
  readonly tls: boolean
}

/** The relay that accepts all outgoing mail. */
export class Smtp extends Context.Service<Smtp, {
  /**
   * Sends one message and waits for the relay's final reply. Interruption closes the connection in use. A lost lease
   * interrupts it: the relay has no message then, as it keeps nothing before the final dot (RFC 5321 4.1.1.10).
   */
  readonly send: (mail: SmtpMail) => Effect.Effect<Accepted, SendFailure>
  /**
   * Whether the circuit breaker would admit a send now, of this account if it names one. A worker that asks first does not
   * claim, compose and sign mail for a relay that is down. At `Probe` it may send one message, to find out whether the
   * relay is back.
   */
  readonly admission: (account?: AccountId) => Effect.Effect<Admission>
  /** The accounts whose mail is paused, because the relay hangs up on it. */
  readonly paused: Effect.Effect<ReadonlySet<AccountId>>
  /** Opens a separate connection, sends EHLO, authenticates and quits. It bypasses the pool and the circuit breaker. */
  readonly verify: Effect.Effect<SmtpCapabilities, RelayUnavailable>
  /** The capabilities of the newest connection. Before the first connection it asks the relay. */
  readonly capabilities: Effect.Effect<SmtpCapabilities, RelayUnavailable>
}>()("messaging-service/channels/email/smtp/Smtp") {}
