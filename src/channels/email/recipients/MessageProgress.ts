import { Context, Effect, Layer, Option, Result } from "effect"
import type { EventData } from "../../../events/EventData.ts"
import { type DomainEvent, domainEvent, Events } from "../../../events/Events.ts"
import { Database } from "../../../platform/database/Database.ts"
import { MessageMetrics } from "../../../platform/observability/MessageMetrics.ts"
import * as Template from "../../../templates/Template.ts"
import { Usage } from "../../../usage/Usage.ts"
import type { AccountId, EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { isTest } from "../../../values/TestMode.ts"
import type { Timestamp } from "../../../values/Timestamp.ts"
import type { Suppress } from "../smtp/SmtpReply.ts"
import { Suppressions } from "../suppressions/Suppressions.ts"
import { MessageProgressRepo, type MessageRow } from "./MessageProgressRepo.ts"
import { advance, type LaterStatus } from "./MessageState.ts"
import { failureOf } from "./RecipientState.ts"

/** A refusal by the recipient's mail server. */
export interface Bounce {
  readonly status: "bounced"
  readonly bounceType: "hard" | "soft"
  /** One printable line. */
  readonly error: string
  readonly suppress: Suppress
}

/** A status that a message reaches after the relay has accepted it, with its details. */
export type Progress = Bounce | { readonly status: Exclude<LaterStatus, "bounced"> }

/** A message that the current transaction has locked, with the fields that all its events carry. */
export interface LockedMessage extends MessageRow {
  /** The database's time, never before the message was sent. */
  readonly at: Timestamp
  readonly email: Omit<EventData<"email.sent">, "sent_at">
}

/** Renders a batch's subject for one recipient. Returns the template itself if it no longer compiles. */
export const subjectOf = (source: string, variables: Readonly<Record<string, unknown>>): string => {
  const template = Template.compile({ subject: source })
  return Result.isSuccess(template) ? Template.render(template.success, variables).subject : source
}

/**
 * SQL of the values that the subject of the batch `b` may name, of its message `m`. A list must not read all values: a recipient
 * may have megabytes of them. Most have few, which are read as they are.
 */
export const subjectValues = `case when pg_column_size(m.variables) < 2000 then m.variables else (
    select coalesce(jsonb_object_agg(n[1], m.variables -> n[1]), '{}')
    from regexp_matches(b.subject, '\\{\\{\\s*([A-Za-z_][A-Za-z0-9_-]*)', 'g') n) end as variables`

/** A batch's subject is a template. The subject of a single email is stored as it is sent. */
const eventDataOf = (row: MessageRow): LockedMessage["email"] => ({
  id: row.email_id,
  batch_id: row.batch_id,
  to: row.recipient,
  subject: row.batch_subject === null ? row.subject ?? "" : subjectOf(row.batch_subject, row.variables),
  tags: row.tags,
  metadata: row.metadata,
  failover_id: row.failover_id
})

const unsentEvent = (row: MessageRow, status: "suppressed" | "canceled", at: Timestamp) => {
  const about = { accountId: row.account_id }
  const email = eventDataOf(row)
  return status === "suppressed"
    ? domainEvent({ ...about, event: "email.suppressed", data: { ...email, suppressed_at: at } })
    : domainEvent({ ...about, event: "email.canceled", data: { ...email, canceled_at: at } })
}

const count = (progress: Progress, impliesSent: boolean) => {
  if (impliesSent) MessageMetrics.sent("email")
  if (progress.status === "delivered") MessageMetrics.delivered("email")
  if (progress.status === "complained") MessageMetrics.complained("email")
  if (progress.status === "bounced") MessageMetrics.failed("email", `bounced_${progress.bounceType}`)
}

/** Moves messages forward after the relay has accepted them, inside the caller's transaction. */
export class MessageProgress extends Context.Service<MessageProgress, {
  /** Locks the message until the transaction ends. */
  readonly lock: (id: EmailMessageId) => Effect.Effect<Option.Option<LockedMessage>>
  /**
   * Moves a locked message forward; returns false and changes nothing if it is that far already. Updates its batch's
   * count and its account's usage, suppresses its address if the report rules it out, and publishes `event`. A
   * message whose acceptance was not recorded yet counts as sent: email.sent is published first.
   */
  readonly advance: (message: LockedMessage, progress: Progress, event?: DomainEvent) => Effect.Effect<boolean>
  /**
   * Counts the messages of an email or a batch that the current transaction has suppressed, and publishes their events. Reads
   * these only if the account subscribes to them.
   */
  readonly publishSuppressed: (
    accountId: AccountId,
    of: { readonly batchId: EmailBatchId } | { readonly emailId: EmailMessageId },
    count: number
  ) => Effect.Effect<void>
  /** Publishes the events of messages that the current transaction has given up. */
  readonly publishFailed: (ids: ReadonlyArray<EmailMessageId>) => Effect.Effect<void>
  /**
   * Notes that another mail server keeps a locked message and tries again, and publishes that; returns false and changes
   * nothing if the message says so already, or is further.
   */
  readonly delay: (message: LockedMessage, error: string) => Effect.Effect<boolean>
  /** Publishes the events of the messages of an email or a batch that the current transaction has canceled. */
  readonly publishCanceled: (
    of: { readonly batchId: EmailBatchId } | { readonly emailId: EmailMessageId }
  ) => Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/MessageProgress") {
  static readonly layer = Layer.effect(
    MessageProgress,
    Effect.gen(function*() {
      const { afterCommit } = yield* Database
      const events = yield* Events
      const usage = yield* Usage
      const suppressions = yield* Suppressions
      const repo = yield* MessageProgressRepo

      return MessageProgress.of({
        publishSuppressed: (accountId, of, count) =>
          Effect.andThen(
            events.count([{ accountId, channel: "email", outcome: "suppressed", count }]),
            events.publishWanted(
              accountId,
              { event: "email.suppressed" },
              Effect.map(
                repo.unsent({ batchId: null, emailId: null, ...of, status: "suppressed" }),
                (rows) => rows.map((row) => unsentEvent(row, "suppressed", row.ended_at))
              )
            )
          ),
        publishCanceled: (of) =>
          Effect.flatMap(
            repo.unsent({ batchId: null, emailId: null, ...of, status: "canceled" }),
            (rows) => events.publish(rows.map((row) => unsentEvent(row, "canceled", row.ended_at)))
          ),
        publishFailed: Effect.fnUntraced(function*(ids) {
          if (ids.length === 0) return
          const rows = yield* repo.failed(ids)
          yield* events.publish(rows.map((row) => {
            const data = { ...eventDataOf(row), failed_at: row.ended_at, error: row.error }
            return domainEvent({ accountId: row.account_id, event: "email.failed", data, reason: failureOf(row.error) })
          }))
          const live = rows.filter(({ account_id }) => !isTest(account_id))
          yield* afterCommit(Effect.sync(() => live.forEach(() => MessageMetrics.failed("email", "outcome_unknown"))))
        }),
        delay: Effect.fnUntraced(function*({ account_id: accountId, at, email, id }, error) {
          if (Option.isNone(yield* repo.delayed({ id, error }))) return false
          const data = { ...email, delayed_at: at, attempt: null, next_attempt_at: null, error }
          yield* events.publish([domainEvent({ accountId, event: "email.delivery_delayed", data })])
          return true
        }),
        lock: (id) => Effect.map(repo.lock(id), Option.map((row) => ({ ...row, email: eventDataOf(row) }))),
        advance: Effect.fnUntraced(function*(message, progress, event) {
          const { account_id: accountId, at, batch_id, email_id, id, recipient: to } = message
          const advanced = advance(message, progress.status)
          if (advanced === undefined) return false
          const bounce = progress.status === "bounced" ? progress : undefined
          const isDelivered = progress.status === "delivered"
          yield* repo.advance(id, { status: advanced.status, isDelivered, at, bounce })
          if (advanced.countsAsSent && batch_id !== null) yield* repo.countSent(batch_id)
          if (bounce !== undefined) {
            yield* suppressions.bounced([{ id: email_id, accountId, to, suppress: bounce.suppress }])
          }
          if (progress.status === "complained") yield* suppressions.complained({ id: email_id, accountId, to })
          const sent = { ...message.email, sent_at: at }
          yield* events.publish([
            ...(advanced.impliesSent ? [domainEvent({ accountId, event: "email.sent", data: sent })] : []),
            ...(event === undefined ? [] : [event])
          ])
          yield* afterCommit(Effect.sync(() => isTest(accountId) ? undefined : count(progress, advanced.impliesSent)))
          if (!message.was_sent) yield* usage.count([{ accountId, metric: "email_sent", count: 1, at }])
          return true
        })
      })
    })
  ).pipe(Layer.provide(MessageProgressRepo.layer))
}
