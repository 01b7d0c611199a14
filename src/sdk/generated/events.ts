// Generated from docs/openapi.json by `node scripts/openapi.ts`. Do not edit.

/** What every event has. */
export interface EventEnvelope {
  /** Identical in every attempt and at every webhook: deduplicate by it. */
  readonly id: string
  /** `test` for what a test key has caused. */
  readonly mode: "live" | "test"
  /** When the event happened. */
  readonly timestamp: string
}

/** A WhatsApp or SMS message was accepted and waits to be sent. */
export interface MessageQueuedEvent extends EventEnvelope {
  readonly event: "message.queued"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "queued"
  } | {
    readonly channel: "sms"
    readonly message_id: number
    readonly session_id: null
    readonly segments: number
    readonly cost_usd: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "queued"
  }
}

/** WhatsApp or the SMS provider accepted a message. */
export interface MessageSentEvent extends EventEnvelope {
  readonly event: "message.sent"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "sent"
  } | {
    readonly channel: "sms"
    readonly message_id: number
    readonly session_id: null
    readonly segments: number
    readonly cost_usd: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "sent"
  } | {
    readonly id: string
    /** the address of the step that came furthest */
    readonly to: string
    /** the channel of that step */
    readonly channel: "whatsapp" | "sms" | "email" | null
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    readonly status: "sent"
  }
}

/** A WhatsApp or SMS message was delivered. */
export interface MessageDeliveredEvent extends EventEnvelope {
  readonly event: "message.delivered"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly delivered_at: string
  } | {
    readonly channel: "sms"
    readonly message_id: number
    readonly session_id: null
    readonly segments: number
    readonly cost_usd: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    /** `message_id` again */
    readonly id: number
    readonly to: string
    readonly status: "delivered"
    readonly delivered_at: string
  } | {
    readonly id: string
    /** the address of the step that came furthest */
    readonly to: string
    /** the channel of that step */
    readonly channel: "whatsapp" | "sms" | "email" | null
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    readonly status: "delivered"
    readonly delivered_at: string
  }
}

/** The recipient read a WhatsApp message. */
export interface MessageReadEvent extends EventEnvelope {
  readonly event: "message.read"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly read_at: string
  }
}

/** A WhatsApp or SMS message failed permanently. */
export interface MessageFailedEvent extends EventEnvelope {
  readonly event: "message.failed"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly error_code: string
    readonly error_message: string
  } | {
    readonly channel: "sms"
    readonly message_id: number
    readonly session_id: null
    readonly segments: number
    readonly cost_usd: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly error_code: string
    readonly error_message: string
  } | {
    readonly id: string
    /** the address of the step that came furthest */
    readonly to: string
    /** the channel of that step */
    readonly channel: "whatsapp" | "sms" | "email" | null
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    readonly status: "failed"
    readonly error_code: string
    readonly error_message: string
  }
}

/** A WhatsApp or SMS message was canceled before it was sent. */
export interface MessageCanceledEvent extends EventEnvelope {
  readonly event: "message.canceled"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "canceled"
    readonly canceled_at: string
  } | {
    readonly channel: "sms"
    readonly message_id: number
    readonly session_id: null
    readonly segments: number
    readonly cost_usd: number
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly to: string
    readonly type: string
    readonly status: "canceled"
    readonly canceled_at: string
  }
}

/** A WhatsApp message arrived. */
export interface MessageReceivedEvent extends EventEnvelope {
  readonly event: "message.received"
  readonly data: {
    readonly channel: "whatsapp"
    readonly message_id: number
    readonly session_id: number
    /** null if WhatsApp hides the sender's number; then `lid` is present */
    readonly from: string | null
    /** the sender's anonymous id, if `from` is null */
    readonly lid: string | null
    /** the group that it was sent to, if any */
    readonly group_id: number | null
    readonly type: string
    /** the fields of its type, and always `body`, which is the caption of a medium */
    readonly content: {
      readonly body: string
    } & { readonly [name: string]: unknown }
    readonly received_at: string
  }
}

/** The relay accepted the email. */
export interface EmailSentEvent extends EventEnvelope {
  readonly event: "email.sent"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly sent_at: string
  }
}

/** The recipient's mail server confirmed the delivery. */
export interface EmailDeliveredEvent extends EventEnvelope {
  readonly event: "email.delivered"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly delivered_at: string
  }
}

/** The tracking pixel of an email was loaded. */
export interface EmailOpenedEvent extends EventEnvelope {
  readonly event: "email.opened"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly opened_at: string
    /** loaded by a mail proxy or a scanner, not by a reader */
    readonly machine: boolean
  }
}

/** A tracked link in an email was followed. */
export interface EmailClickedEvent extends EventEnvelope {
  readonly event: "email.clicked"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly clicked_at: string
    readonly url: string
    /** followed by a scanner, not by a reader */
    readonly bot: boolean
  }
}

/** An email was rejected permanently (hard) or temporarily (soft). */
export interface EmailBouncedEvent extends EventEnvelope {
  readonly event: "email.bounced"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly bounced_at: string
    readonly bounce_type: "hard" | "soft"
    /** the mail server's answer */
    readonly error: string
  }
}

/** The recipient marked an email as spam. */
export interface EmailComplainedEvent extends EventEnvelope {
  readonly event: "email.complained"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly complained_at: string
  }
}

/** An email could not be sent, for another reason than a bounce. */
export interface EmailFailedEvent extends EventEnvelope {
  readonly event: "email.failed"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly failed_at: string
    /** why, in one line */
    readonly error: string
  }
}

/** An email was not sent, because its address is suppressed. */
export interface EmailSuppressedEvent extends EventEnvelope {
  readonly event: "email.suppressed"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly suppressed_at: string
  }
}

/** An attempt to send an email failed for now, and another one follows. */
export interface EmailDeliveryDelayedEvent extends EventEnvelope {
  readonly event: "email.delivery_delayed"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly delayed_at: string
    /** how many attempts have failed; null if another mail server delays it */
    readonly attempt: number | null
    /** null if another mail server delays it */
    readonly next_attempt_at: string | null
    /** the answer to the attempt, or the reason of the delay */
    readonly error: string
  }
}

/** An email was canceled before it was sent. */
export interface EmailCanceledEvent extends EventEnvelope {
  readonly event: "email.canceled"
  readonly data: {
    readonly id: number
    /** null for a single email */
    readonly batch_id: string | null
    readonly to: string
    readonly subject: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    /** The message with failover that this one is a step of; null for any other */
    readonly failover_id: string | null
    readonly canceled_at: string
  }
}

/** A bulk email ended; the data counts the outcomes of its recipients. */
export interface EmailBulkCompletedEvent extends EventEnvelope {
  readonly event: "email.bulk_completed"
  readonly data: {
    readonly batch_id: string
    readonly tags: ReadonlyArray<string>
    readonly metadata: { readonly [name: string]: string }
    readonly total: number
    readonly sent: number
    readonly failed: number
    readonly suppressed: number
    /** how many were still queued when the batch was canceled */
    readonly canceled: number
    readonly completed_at: string
  }
}

/** A WhatsApp session was paired or reconnected. */
export interface SessionConnectedEvent extends EventEnvelope {
  readonly event: "session.connected"
  readonly data: {
    readonly session_id: number
    /** with its leading + */
    readonly phone_number: string
  }
}

/** A WhatsApp session lost its connection. */
export interface SessionDisconnectedEvent extends EventEnvelope {
  readonly event: "session.disconnected"
  readonly data: {
    readonly session_id: number
    readonly reason: string
    /** whether the service reconnects automatically */
    readonly reconnecting: boolean
  }
}

/** A WhatsApp session has a new QR code, for example because the previous one expired. */
export interface SessionQrUpdatedEvent extends EventEnvelope {
  readonly event: "session.qr_updated"
  readonly data: {
    readonly session_id: number
    /** a picture as a data: URL */
    readonly qr_code: string
  }
}

/** A participant was added to a WhatsApp group. */
export interface GroupParticipantAddedEvent extends EventEnvelope {
  readonly event: "group.participant_added"
  readonly data: {
    readonly session_id: number
    readonly group_id: number
    /** a phone number with +; null if WhatsApp hides it */
    readonly participant: string | null
    /** a phone number with +; null if WhatsApp hides it */
    readonly added_by: string | null
  }
}

/** A participant was removed from a WhatsApp group. */
export interface GroupParticipantRemovedEvent extends EventEnvelope {
  readonly event: "group.participant_removed"
  readonly data: {
    readonly session_id: number
    readonly group_id: number
    /** a phone number with +; null if WhatsApp hides it */
    readonly participant: string | null
    /** a phone number with +; null if WhatsApp hides it */
    readonly removed_by: string | null
  }
}

/** A one-time code was confirmed. */
export interface VerifyCompletedEvent extends EventEnvelope {
  readonly event: "verify.completed"
  readonly data: {
    readonly verification_id: string
    readonly to: string
    readonly channel: "sms" | "whatsapp" | "email"
    readonly verified_at: string
  }
}

/** A one-time code expired unconfirmed. */
export interface VerifyExpiredEvent extends EventEnvelope {
  readonly event: "verify.expired"
  readonly data: {
    readonly verification_id: string
    readonly to: string
    readonly channel: "sms" | "whatsapp" | "email"
    readonly expired_at: string
  }
}

/** Another webhook of the account became unhealthy. */
export interface WebhookUnhealthyEvent extends EventEnvelope {
  readonly event: "webhook.unhealthy"
  readonly data: {
    readonly webhook_id: number
    /** without its query */
    readonly url: string
    readonly reason: "failing" | "gone" | "backlog_full"
    /** consecutive deliveries that used up all attempts */
    readonly failure_count: number
    readonly failing_since: string | null
    readonly unhealthy_since: string
  }
}

/** 80 percent of a monthly quota are used. */
export interface AccountQuotaWarningEvent extends EventEnvelope {
  readonly event: "account.quota_warning"
  readonly data: {
    readonly metric: "email" | "sms" | "otp"
    /** in this calendar month (UTC) */
    readonly used: number
    readonly limit: number
  }
}

/** A monthly quota is used up. */
export interface AccountQuotaReachedEvent extends EventEnvelope {
  readonly event: "account.quota_reached"
  readonly data: {
    readonly metric: "email" | "sms" | "otp"
    /** in this calendar month (UTC) */
    readonly used: number
    readonly limit: number
  }
}

/** Any event. `event` tells which. */
export type WebhookEvent =
  | MessageQueuedEvent
  | MessageSentEvent
  | MessageDeliveredEvent
  | MessageReadEvent
  | MessageFailedEvent
  | MessageCanceledEvent
  | MessageReceivedEvent
  | EmailSentEvent
  | EmailDeliveredEvent
  | EmailOpenedEvent
  | EmailClickedEvent
  | EmailBouncedEvent
  | EmailComplainedEvent
  | EmailFailedEvent
  | EmailSuppressedEvent
  | EmailDeliveryDelayedEvent
  | EmailCanceledEvent
  | EmailBulkCompletedEvent
  | SessionConnectedEvent
  | SessionDisconnectedEvent
  | SessionQrUpdatedEvent
  | GroupParticipantAddedEvent
  | GroupParticipantRemovedEvent
  | VerifyCompletedEvent
  | VerifyExpiredEvent
  | WebhookUnhealthyEvent
  | AccountQuotaWarningEvent
  | AccountQuotaReachedEvent
