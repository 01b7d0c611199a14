import { type Duration, Schema } from "effect"
import { FailureReason } from "../../values/FailureReason.ts"
import type { RetryPolicyName } from "../endpoint/Webhook.ts"
import { maxAttempts, nextDelay } from "./RetryPolicy.ts"

/** `pending` waits for its first attempt, `retrying` for a later one; the other three are final. */
export const DeliveryStatus = Schema.Literals(["pending", "retrying", "delivered", "failed", "skipped"])
export type DeliveryStatus = typeof DeliveryStatus.Type

/**
 * The statuses of rows in the queue; a `taken` row is claimed by the webhook's actor. Each has its index, which
 * PostgreSQL uses only where the status is written as a literal.
 */
export const queueStatuses = ["pending", "retrying", "taken"] as const

/** Why an attempt failed, or why no attempt was made. */
export const DeliveryError = Schema.Literals([
  ...FailureReason.literals,
  "redirect",
  "http_status",
  "webhook_unhealthy",
  "backlog_full",
  "restored"
])
export type DeliveryError = typeof DeliveryError.Type

/** Why an event was recorded without an attempt. */
export type SkipReason = Extract<DeliveryError, "webhook_unhealthy" | "backlog_full" | "restored">

/** The outcome of one attempt: `Answered` with a status, or `Broke` without a complete response. */
export type Outcome =
  | { readonly _tag: "Answered"; readonly status: number }
  | { readonly _tag: "Broke"; readonly error: Exclude<DeliveryError, SkipReason>; readonly status?: number | undefined }

/** The columns of a delivery that decide about its next state. */
export interface Delivery {
  readonly status: DeliveryStatus
  readonly attempt_count: number
  /** A test is attempted once and never retried (spec 4.5). */
  readonly is_test: boolean
  /** Whether every attempt so far met 410 Gone. */
  readonly all_gone: boolean
}

/**
 * What a delivery shows about the webhook's health: `undecided` while it may still succeed, `gone` when every attempt met
 * 410 Gone.
 */
export type HealthSign = "success" | "exhausted" | "gone" | "undecided"

export interface Transition {
  readonly status: DeliveryStatus
  readonly attempt_count: number
  /** Counted from the end of the attempt; undefined after the last attempt. */
  readonly next_delay: Duration.Duration | undefined
  readonly response_code: number | null
  readonly error: DeliveryError | null
  readonly health: HealthSign
}

/** Whether a delivery has ended. A later outcome, from an earlier owner, changes nothing. */
export const isFinal = (status: DeliveryStatus): boolean => status !== "pending" && status !== "retrying"

/** Only 2xx is success (spec 6.6); a redirect is never followed. */
const errorOfStatus = (status: number): DeliveryError | null => {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? "redirect" : "http_status"
}

const gone = 410

const failed = (
  delivery: Delivery,
  policy: RetryPolicyName,
  status: number | null
): Pick<Transition, "status" | "next_delay" | "health"> => {
  const next_delay = delivery.is_test ? undefined : nextDelay(policy, delivery.attempt_count + 1)
  if (next_delay !== undefined) return { status: "retrying", next_delay, health: "undecided" }
  // A failed test says nothing about the webhook's health: its owner is trying things out.
  if (delivery.is_test) return { status: "failed", next_delay, health: "undecided" }
  return { status: "failed", next_delay, health: delivery.all_gone && status === gone ? "gone" : "exhausted" }
}

/**
 * The delivery after an outcome, under the webhook's present policy: an owner may change it between two attempts. It is
 * total: every row and every late outcome have a next state.
 */
export const transition = (delivery: Delivery, outcome: Outcome, policy: RetryPolicyName): Transition => {
  const { attempt_count } = delivery
  const still = { next_delay: undefined, response_code: null, error: null, health: "undecided" } as const
  if (isFinal(delivery.status)) return { ...still, status: delivery.status, attempt_count }
  const response_code = outcome.status ?? null
  const error = outcome._tag === "Broke" ? outcome.error : errorOfStatus(outcome.status)
  const attempted = { attempt_count: Math.min(attempt_count + 1, maxAttempts("extended")), response_code, error }
  return error === null
    ? { ...attempted, status: "delivered", next_delay: undefined, health: "success" }
    : { ...attempted, ...failed(delivery, policy, response_code) }
}
