/** What `--import` adds to a service that a bench started with `--expose-gc`: it answers every question with its memory. */
import { memoryCollected, memoryGivenBack } from "./memory.ts"
import { answerQuestions } from "./peer.ts"

/** Which collection comes before the answer. */
export interface MemoryQuestion {
  readonly givingBack: boolean
}

answerQuestions<MemoryQuestion>({}, async ({ givingBack }) => givingBack ? memoryGivenBack() : memoryCollected())
