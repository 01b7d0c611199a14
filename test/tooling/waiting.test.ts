import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { Changes } from "../support/Changes.ts"
import { eventually } from "../support/waiting.ts"

/** The failure of a wait with a bound of one second. */
const saidBy = (wait: Effect.Effect<unknown>) =>
  Effect.map(Effect.exit(wait), (exit) => Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "no failure")

describe("a wait that never ends", () => {
  it.live("fails and says which value it last read", () =>
    Effect.gen(function*() {
      const read = Effect.succeed({ status: 503, text: "still starting" })
      const said = yield* saidBy(eventually(read, ({ status }) => status === 200, "1 seconds"))
      assert.include(said, "Not as expected within 1 seconds; last seen: 503 still starting")
    }))

  it.live("fails and says the last state of which it was told", () =>
    Effect.gen(function*() {
      const names: Array<string> = []
      const changes = new Changes(() => names)
      names.push("ada")
      changes.notify()
      const said = yield* saidBy(changes.until(() => names.length === 2, "1 seconds"))
      assert.include(said, "Not as expected within 1 seconds; last seen: [ 'ada' ]")
    }))
})
