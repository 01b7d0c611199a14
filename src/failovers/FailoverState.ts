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

/**
 * The next move of a failover. A step that failed, or has not come as far as it should within its time, gives way to the next
 * one; a step that is reached ends the whole. Nothing begins after an end or a cancellation, and no step begins twice.
 */
export const decide = (
  steps: ReadonlyArray<StepState>,
  { isCanceled, now }: { readonly isCanceled: boolean; readonly now: number }
): Decision => {
  if (steps.some(isReached)) return finish
  const current = steps.findLastIndex(({ progress }) => progress !== "waiting")
  const step = steps[current]
  if (isCanceled) {
    return step !== undefined && isOpen(step) ? { _tag: "Withdraw", step: current } : finish
  }
  if (step === undefined) return { _tag: "Begin", step: 0 }
  const isLast = current === steps.length - 1
  const next: Decision = isLast ? finish : { _tag: "Begin", step: current + 1 }
  if (step.progress === "failed" || step.progress === "canceled") return next
  if (isOpen(step) && isLast) return { _tag: "Wait", until: undefined }
  const end = endOf(step)
  if (now < end) return { _tag: "Wait", until: end }
  return isOpen(step) ? { _tag: "Withdraw", step: current } : next
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
