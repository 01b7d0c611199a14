import type { AnyBatch } from "./BatchChangePages.ts"

/** A shorter time says nothing of the pace. */
const leastMillis = 1000

/** How quickly the messages of a batch leave the queue. */
export interface Pace {
  readonly perMinute: number
  /** Milliseconds until the queue would be empty at this pace; undefined for a batch that sends no more. */
  readonly left: number | undefined
}

/**
 * The pace of a batch since its start: an email began to be sent, or a message was sent or failed. None in its first
 * second.
 */
export const paceOf = (
  { completed_at, failed, queued, sent, started_at, status }: Pick<
    AnyBatch,
    "completed_at" | "failed" | "queued" | "sent" | "started_at" | "status"
  >,
  now: number
): Pace | undefined => {
  if (started_at === null) return undefined
  const done = sent + failed
  const millis = (completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at)
  if (done === 0 || millis < leastMillis) return undefined
  const isOver = completed_at !== null || status === "canceled"
  return { perMinute: done / millis * 60_000, left: isOver ? undefined : queued / done * millis }
}
