import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeV8 from "node:v8"
import { Line } from "../../../src/platform/net/FifoQueue.ts"

const drain = <A>(line: Line<A>) => {
  const all: Array<A> = []
  for (let value = line.next(); value !== undefined; value = line.next()) all.push(value)
  return all
}

const zeros = Array.from({ length: 1_250 }, () => 0)

/** Ten kB of the heap: a request. */
const request = () => [...zeros]

const oldBytes = () =>
  NodeV8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? 0

/**
 * How many bytes turn old while a hundred MB go through a line, eight requests at a time. What V8 frees meanwhile by a full
 * collection is not set off against them.
 */
const turnOld = (line: Line<Array<number>>) => {
  let before = oldBytes()
  let grown = 0
  for (let count = 0; count < 10_000; count++) {
    line.join(request())
    if (line.size > 8) line.next()
    const now = oldBytes()
    grown += Math.max(0, now - before)
    before = now
  }
  return grown
}

describe("a line", () => {
  it("serves in the order in which they came, and is empty then", () => {
    const line = new Line<string>()
    for (const name of ["ann", "bob", "eve"]) line.join(name)
    assert.deepStrictEqual([line.first, line.size], ["ann", 3])
    assert.deepStrictEqual(drain(line), ["ann", "bob", "eve"])
    assert.deepStrictEqual([line.first, line.size], [undefined, 0])
    line.join("ida")
    assert.deepStrictEqual(drain(line), ["ida"])
  })

  it("lets nobody leave who was served", () => {
    const line = new Line<string>()
    const leave = line.join("ann")
    line.next()
    line.join("bob")
    leave()
    assert.strictEqual(line.size, 1)
    assert.deepStrictEqual(drain(line), ["bob"])
  })

  it.prop(
    "keeps its order whoever leaves, however often they say so",
    [Schema.Array(Schema.Boolean)],
    ([leaving]) => {
      const line = new Line<number>()
      const leaves = leaving.map((_, index) => line.join(index))
      for (const [index, isLeaving] of leaving.entries()) {
        if (isLeaving) leaves[index]?.()
        if (isLeaving) leaves[index]?.()
      }
      const staying = [...leaving.keys()].filter((index) => leaving[index] === false)
      assert.strictEqual(line.size, staying.length)
      assert.deepStrictEqual(drain(line), staying)
    }
  )

  it("keeps none of those that have left from young collections, also when it is old itself", () => {
    const line = new Line<Array<number>>()
    line.join(request())
    // It turns old while others make garbage: from here on a Set would keep much of what goes through it.
    let garbage = request()
    for (let count = 0; count < 10_000; count++) garbage = request()
    assert.lengthOf(garbage, 1_250)
    // The least of five, as a full collection in the middle ages whatever is young.
    assert.isBelow(Math.min(...Array.from({ length: 5 }, () => turnOld(line))), 10_000_000)
  })
})
