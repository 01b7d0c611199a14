import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeV8 from "node:v8"
import { FifoQueue } from "../../../src/platform/work/FifoQueue.ts"

const drain = <A>(queue: FifoQueue<A>) => {
  const all: Array<A> = []
  for (let value = queue.dequeue(); value !== undefined; value = queue.dequeue()) all.push(value)
  return all
}

const zeros = Array.from({ length: 1_250 }, () => 0)

/** Stands for a request: ten kB of the heap. */
const request = () => [...zeros]

const oldBytes = () =>
  NodeV8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0

/**
 * How many bytes move to old space while a hundred MB pass through a queue, eight requests at a time. Bytes that a full
 * collection frees meanwhile are not subtracted.
 */
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

describe("FifoQueue", () => {
  it("returns values in the order of their addition, then is empty", () => {
    const queue = new FifoQueue<string>()
    for (const name of ["ann", "bob", "eve"]) queue.enqueue(name)
    assert.deepStrictEqual([queue.first, queue.size], ["ann", 3])
    assert.deepStrictEqual(drain(queue), ["ann", "bob", "eve"])
    assert.deepStrictEqual([queue.first, queue.size], [undefined, 0])
    queue.enqueue("ida")
    assert.deepStrictEqual(drain(queue), ["ida"])
  })

  it("ignores the removal of a value that was dequeued", () => {
    const queue = new FifoQueue<string>()
    const remove = queue.enqueue("ann")
    queue.dequeue()
    queue.enqueue("bob")
    remove()
    assert.strictEqual(queue.size, 1)
    assert.deepStrictEqual(drain(queue), ["bob"])
  })

  it.prop(
    "keeps its order after any removals, also repeated ones",
    [Schema.Array(Schema.Boolean)],
    ([removed]) => {
      const queue = new FifoQueue<number>()
      const removals = removed.map((_, index) => queue.enqueue(index))
      for (const [index, isRemoved] of removed.entries()) {
        if (isRemoved) removals[index]?.()
        if (isRemoved) removals[index]?.()
      }
      const kept = [...removed.keys()].filter((index) => removed[index] === false)
      assert.strictEqual(queue.size, kept.length)
      assert.deepStrictEqual(drain(queue), kept)
    }
  )

  it("keeps no removed value from a young collection, also when the queue itself is in old space", () => {
    const queue = new FifoQueue<Array<number>>()
    queue.enqueue(request())
    // The garbage moves the queue to old space. From here on a Set would keep much of what passes through it.
    let garbage = request()
    for (let count = 0; count < 10_000; count++) garbage = request()
    assert.lengthOf(garbage, 1_250)
    // The least of five, because a full collection in between moves every young value.
    assert.isBelow(Math.min(...Array.from({ length: 5 }, () => turnOld(queue))), 10_000_000)
  })
})
