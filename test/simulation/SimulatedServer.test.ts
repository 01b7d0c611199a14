import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as SimulatedDatabase from "./SimulatedDatabase.ts"
import { SimulatedServer, Transaction } from "./SimulatedServer.ts"
import { Simulation } from "./Simulation.ts"

/** Transactions that change the names of the accounts 1 and 2, with the answers in the order in which they came. */
const make = Effect.gen(function*() {
  const server = new SimulatedServer(new Simulation(1), yield* SimulatedDatabase.make([]))
  const answers: Array<string> = []
  const begin = (name: string) => {
    const transaction = new Transaction(server, { name, isDead: false, frozenUntil: 0 })
    return {
      change: (account: number) =>
        Effect.promise(() =>
          transaction.execute("update accounts set name = $1 where id = $2", [name, account], async ({ _tag }) => {
            answers.push(`${name} ${account} ${_tag}`)
          })
        ),
      end: (sql: string) => Effect.promise(() => transaction.end(sql, async () => {}))
    }
  }
  return { answers, begin }
})

describe("the database of a simulation", () => {
  it.effect("statements that wait for one lock go on in the order in which they came", () =>
    Effect.gen(function*() {
      const { answers, begin } = yield* make
      const transactions = ["first", "second", "third", "fourth"].map(begin)
      for (const { change } of transactions) yield* change(1)
      assert.deepStrictEqual(answers, ["first 1 Success"])
      for (const { end } of transactions) yield* end("COMMIT")
      assert.deepStrictEqual(answers, ["first 1 Success", "second 1 Success", "third 1 Success", "fourth 1 Success"])
    }))

  it.effect("a deadlock ends the statement that began to wait last", () =>
    Effect.gen(function*() {
      const { answers, begin } = yield* make
      const [first, second] = [begin("first"), begin("second")]
      yield* first.change(1)
      yield* second.change(2)
      yield* first.change(2)
      yield* second.change(1)
      assert.deepStrictEqual(answers, ["first 1 Success", "second 2 Success", "first 2 Success", "second 1 Failure"])
      yield* second.end("ROLLBACK")
      yield* first.end("COMMIT")
    }))
})
