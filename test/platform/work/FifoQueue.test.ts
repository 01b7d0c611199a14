import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodePath from "node:path"
import { FifoQueue } from "../../../src/platform/work/FifoQueue.ts"

const drain = <A>(queue: FifoQueue<A>) => {
  const all: Array<A> = []
  for (let value = queue.dequeue(); value !== undefined; value = queue.dequeue()) all.push(value)
  return all
}

const Turns = Schema.fromJsonString(Schema.Array(Schema.Finite))

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
    const printed = NodeChildProcess.execFileSync(
      process.execPath,
      [NodePath.join(import.meta.dirname, "oldSpaceGrowthProcess.ts")],
      { encoding: "utf8" }
    )
    const turns = Schema.decodeSync(Turns)(printed)
    assert.lengthOf(turns, 5)
    // The least of five, because a full collection in between moves every young value.
    assert.isBelow(Math.min(...turns), 10_000_000)
  })
})
