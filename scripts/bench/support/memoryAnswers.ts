/** With `--import` and `--expose-gc`, a service answers every question with its memory. */
import { memoryCollected, memoryGivenBack } from "./memory.ts"
import { answerQuestions } from "./peer.ts"

/** The kind of collection before the answer. */
export interface MemoryQuestion {
  readonly givingBack: boolean
}

answerQuestions<MemoryQuestion>({}, async ({ givingBack }) => givingBack ? memoryGivenBack() : memoryCollected())
