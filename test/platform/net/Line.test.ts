import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Line } from "../../../src/platform/net/Line.ts"

const drain = <A>(line: Line<A>) => {
  const all: Array<A> = []
  for (let value = line.next(); value !== undefined; value = line.next()) all.push(value)
  return all
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
})
