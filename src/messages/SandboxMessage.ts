import { Context, type Effect, Schema } from "effect"
import type { AccountId } from "../values/Ids.ts"
import type { PageOf, Window } from "../values/Page.ts"
import { Timestamp } from "../values/Timestamp.ts"

export const SandboxChannel = Schema.Literals(["email", "sms", "whatsapp"])

const SandboxAttachment = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  size: Schema.Int.annotate({ description: "bytes; 0 without content" }),
  content: Schema.NullOr(Schema.String).annotate({
    description:
      "base64; null for WhatsApp, and for the later mails of a page whose mails exceed 8 MiB. The first mail is always whole"
  })
})

/** A message of a test key, as its recipient received it in the sandbox. */
export const SandboxMessage = Schema.Struct({
  id: Schema.String.annotate({ description: "names the message in the sandbox; it is not the id of its record" }),
  mode: Schema.Literal("test"),
  channel: SandboxChannel,
  from: Schema.NullOr(Schema.String),
  to: Schema.String,
  type: Schema.String.annotate({ description: "email, sms, or the type of a WhatsApp message" }),
  subject: Schema.NullOr(Schema.String),
  text: Schema.NullOr(Schema.String),
  html: Schema.NullOr(Schema.String),
  headers: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.String })),
  links: Schema.Array(Schema.String),
  attachments: Schema.Array(SandboxAttachment),
  received_at: Timestamp
}).annotate({ identifier: "SandboxMessage" })
export type SandboxMessage = typeof SandboxMessage.Type

/** What a list selects. */
export interface SandboxFilter {
  readonly channel?: typeof SandboxChannel.Type | undefined
  /** An address or number; of an address, a part will do. */
  readonly to?: string | undefined
  /** Seconds to wait for the first message. */
  readonly wait: number
}

/** A port: what the sandbox received from test accounts. */
export class SandboxMessages extends Context.Service<SandboxMessages, {
  /** Newest first. */
  readonly list: (accountId: AccountId, filter: SandboxFilter, window: Window) => Effect.Effect<PageOf<SandboxMessage>>
  /** Deletes all of them. Returns how many there were. */
  readonly clear: (accountId: AccountId) => Effect.Effect<number>
}>()("messaging-service/messages/SandboxMessage/SandboxMessages") {}
