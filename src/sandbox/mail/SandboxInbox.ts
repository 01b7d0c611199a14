import { Context, Schema } from "effect"
import type { Effect, Option } from "effect"
import type { PageOf, PageRequest } from "../../values/Page.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** A mail of the inbox as lists show it. */
export const SandboxMailSummary = Schema.Struct({
  id: Schema.Int,
  /** The From header as it is read: `Name <address>`. */
  from: Schema.String,
  to: Schema.String,
  subject: Schema.String,
  received_at: Timestamp
})
export type SandboxMailSummary = typeof SandboxMailSummary.Type

/** A mail of the inbox with its bytes as they were received. */
export const SandboxMail = Schema.Struct({
  ...SandboxMailSummary.fields,
  envelope_from: Schema.String,
  raw: Schema.Uint8Array
})
export type SandboxMail = typeof SandboxMail.Type

/** A message as the SMTP server took it; every recipient gets a mail of its own. */
export interface ReceivedMail {
  readonly envelopeFrom: string
  readonly recipients: ReadonlyArray<string>
  readonly raw: Uint8Array
}

/** A page of the inbox; `to` is a whole address, or a part of one. */
export interface InboxRequest extends PageRequest {
  readonly to?: string | undefined
}

/** What the sandbox's SMTP server received, the newest mails only. */
export class SandboxInbox extends Context.Service<SandboxInbox, {
  /** Stores a message; when it succeeds, the message is committed. */
  readonly add: (mail: ReceivedMail) => Effect.Effect<void>
  /** Newest first. */
  readonly list: (request: InboxRequest) => Effect.Effect<PageOf<SandboxMailSummary>>
  readonly get: (id: number) => Effect.Effect<Option.Option<SandboxMail>>
  /** Mails in the inbox. */
  readonly count: Effect.Effect<number>
}>()("messaging-service/sandbox/mail/SandboxInbox") {}
