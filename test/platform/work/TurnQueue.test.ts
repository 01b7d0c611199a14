import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { TurnQueue } from "../../../src/platform/work/TurnQueue.ts"

const drain = <A>(queue: TurnQueue<string, A>) => {
  const all: Array<A> = []
  for (let value = queue.dequeue(); value !== undefined; value = queue.dequeue()) all.push(value)
  return all
}

const Entry = Schema.Struct({
  lane: Schema.Literals([0, 1, 2]),
  key: Schema.Literals(["ann", "bob", "eve"]),
  isRemoved: Schema.Boolean
})

describe("TurnQueue", () => {
  it("lets keys take turns, and keeps the order of each", () => {
    const queue = new TurnQueue<string, string>(1)
    for (const value of ["a1", "a2", "a3", "b1", "e1", "b2"]) queue.enqueue(0, value[0] ?? "", value)
    assert.deepStrictEqual(drain(queue), ["a1", "b1", "e1", "a2", "b2", "a3"])
  })

  it("passes over the first lane every fourth turn, and over the second every sixteenth", () => {
    const queue = new TurnQueue<string, number>(3)
    for (const lane of [0, 1, 2]) for (let n = 0; n < 32; n++) queue.enqueue(lane, "ann", lane)
    const first = Array.from({ length: 32 }, () => queue.dequeue())
    assert.deepStrictEqual(first.slice(0, 16), [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2])
    assert.deepStrictEqual(first.slice(16), first.slice(0, 16))
  })

  it("counts only lanes that wait", () => {
    const queue = new TurnQueue<string, number>(3)
    for (const lane of [1, 2]) for (let n = 0; n < 8; n++) queue.enqueue(lane, "ann", lane)
    assert.deepStrictEqual(Array.from({ length: 8 }, () => queue.dequeue()), [1, 1, 1, 2, 1, 1, 1, 2])
  })

  it("passes over lanes and keys that may not be taken, without a loss of their place", () => {
    const queue = new TurnQueue<string, string>(2)
    queue.enqueue(0, "ann", "a")
    queue.enqueue(1, "bob", "b")
    queue.enqueue(1, "eve", "e")
    assert.strictEqual(queue.dequeue((lane, key) => lane > 0 && key !== "bob"), "e")
    assert.isUndefined(queue.dequeue((_, key) => key === "eve"))
    assert.deepStrictEqual(drain(queue), ["a", "b"])
  })

  it.prop("gives each value once, but those that were removed", [Schema.Array(Entry)], ([entries]) => {
    const queue = new TurnQueue<string, number>(3)
    const removals = entries.map(({ key, lane }, index) => queue.enqueue(lane, key, index))
    entries.forEach(({ isRemoved }, index) => {
      if (isRemoved) removals[index]?.()
    })
    const kept = entries.flatMap(({ isRemoved }, index) => isRemoved ? [] : [index])
    assert.strictEqual(queue.size, kept.length)
    const taken = drain(queue)
    assert.deepStrictEqual(taken.toSorted((a, b) => a - b), kept)
    for (const remove of removals) remove()
    assert.strictEqual(queue.size, 0)
  })
})
