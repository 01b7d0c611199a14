/**
 * Prints how many bytes move to old space while a hundred MB pass through a FifoQueue that is in old space itself: five
 * turns, as a JSON array. It is a process because what else is on a heap decides when V8 moves values.
 */
import * as NodeV8 from "node:v8"
import { FifoQueue } from "../../../src/platform/work/FifoQueue.ts"

const zeros = Array.from({ length: 1_250 }, () => 0)

/** Stands for a request: ten kB of the heap. */
const request = () => [...zeros]

const oldBytes = () =>
  NodeV8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0

/** The bytes of one turn, eight requests at a time. Bytes that a full collection frees meanwhile are not subtracted. */
const turnOld = (queue: FifoQueue<Array<number>>) => {
  let before = oldBytes()
  let grown = 0
  for (let count = 0; count < 10_000; count++) {
    queue.enqueue(request())
    if (queue.size > 8) queue.dequeue()
    const now = oldBytes()
    grown += Math.max(0, now - before)
    before = now
  }
  return grown
}

const queue = new FifoQueue<Array<number>>()
queue.enqueue(request())
// The garbage moves the queue to old space. From here on a Set would keep much of what passes through it.
for (let count = 0; count < 10_000; count++) request()
console.log(JSON.stringify(Array.from({ length: 5 }, () => turnOld(queue))))
