import type { StepProgress, Until } from "./Failover.ts"

/** What the decision needs to know of a step. Times are milliseconds of the database's clock. */
export interface StepState {
  readonly progress: StepProgress
  readonly until: Until
  readonly withinMillis: number
  readonly begunAt: number | undefined
  /** When its channel handed the message over. */
  readonly sentAt: number | undefined
}

/** What the actor does next. */
export type Decision =
  | { readonly _tag: "Begin"; readonly step: number }
  /** The step's time is over and its message may not have left yet. */
  | { readonly _tag: "Withdraw"; readonly step: number }
  /** Until a time, or until the message of a step changes. */
  | { readonly _tag: "Wait"; readonly until: number | undefined }
  | { readonly _tag: "Finish" }

const ranks: Readonly<Record<StepProgress, number>> = {
  waiting: 0,
  canceled: 0,
  failed: 0,
  queued: 0,
  sent: 1,
  delivered: 2,
  read: 3
}

/** Whether the step has come as far as it should. */
const isReached = ({ progress, until }: StepState) => ranks[progress] >= ranks[until]

const finish: Decision = { _tag: "Finish" }

/** The end of the step's time: counted from its hand-over, and before that from its beginning. */
const endOf = ({ begunAt = 0, sentAt, withinMillis }: StepState) => (sentAt ?? begunAt) + withinMillis

const isOpen = ({ progress }: StepState) => progress === "queued"

/** How long the actor waits before it tries again to withdraw a message. */
export const retryMillis = 2_000

/**
 * How long after its time a message keeps the next step waiting that cannot be withdrawn: its channel hands it over now, or may
 * have done so before it lost its connection.
 */
const graceMillis = 30_000

/**
 * After the last step has begun. It waits in its channel for as long as any other message. What was sent may still arrive in its
 * time, and if nothing was, an earlier step that could not be withdrawn may still be sent.
 */
const decideLast = (steps: ReadonlyArray<StepState>, now: number): Decision => {
  const sent = steps.filter(({ progress }) => ranks[progress] > 0)
  const last = steps.at(-1)
  if (last !== undefined && isOpen(last) || sent.length === 0 && steps.some(isOpen)) {
    return { _tag: "Wait", until: undefined }
  }
  const end = Math.max(...sent.map(endOf))
  return now < end ? { _tag: "Wait", until: end } : finish
}

/** What the decision needs beside the steps. */
export interface Circumstances {
  readonly now: number
  readonly isCanceled: boolean
  /** The steps whose withdrawal the actor has just tried. */
  readonly tried: ReadonlySet<number>
}

/**
 * The next move of a failover. A step that failed, or has not come as far as it should within its time, gives way to the next
 * one; a step that is reached ends the whole. Nothing begins after an end or a cancellation, and no step begins twice.
 */
export const decide = (steps: ReadonlyArray<StepState>, { isCanceled, now, tried }: Circumstances): Decision => {
  if (steps.some(isReached)) return finish
  if (isCanceled) {
    const open = steps.findLastIndex((step, index) => isOpen(step) && !tried.has(index))
    if (open >= 0) return { _tag: "Withdraw", step: open }
    return steps.some(isOpen) ? { _tag: "Wait", until: now + retryMillis } : finish
  }
  const current = steps.findLastIndex(({ progress }) => progress !== "waiting")
  const step = steps[current]
  if (step === undefined) return { _tag: "Begin", step: 0 }
  if (current === steps.length - 1) return decideLast(steps, now)
  const next: Decision = { _tag: "Begin", step: current + 1 }
  if (step.progress === "failed" || step.progress === "canceled") return next
  const end = endOf(step)
  if (now < end) return { _tag: "Wait", until: end }
  if (!isOpen(step)) return next
  if (!tried.has(current)) return { _tag: "Withdraw", step: current }
  return now < end + graceMillis ? { _tag: "Wait", until: now + retryMillis } : next
}

/** The status of the whole: the best that a step has reached. A message that is being handed over may still be sent. */
export const statusOf = (
  steps: ReadonlyArray<Pick<StepState, "progress">>,
  { isCanceled, isOver }: { readonly isCanceled: boolean; readonly isOver: boolean }
) => {
  const reached = (["read", "delivered", "sent"] as const).find((status) =>
    steps.some(({ progress }) => progress === status)
  )
  if (reached !== undefined) return reached
  if (isCanceled && !steps.some(({ progress }) => progress === "queued")) return "canceled"
  if (isOver) return "failed"
  return steps.some(({ progress }) => progress !== "waiting") ? "processing" : "queued"
}
