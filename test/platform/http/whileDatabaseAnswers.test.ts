import { assert, describe, it } from "@effect/vitest"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlConnection, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { DatabaseProbe } from "../../../src/platform/database/DatabaseProbe.ts"
import { ServiceUnavailable } from "../../../src/platform/http/ApiErrors.ts"
import { whileDatabaseAnswers } from "../../../src/platform/http/RequestPipeline.ts"

/** A database that answers at once or, while it is silent, never. It counts its checks. */
const makeDatabase = () => {
  const database = { isSilent: false, asked: 0 }
  const answer = Effect.suspend(() => {
    database.asked++
    return database.isSilent ? Effect.never : Effect.succeed([])
  })
  const connection: SqlConnection.Connection = {
    execute: () => answer,
    executeRaw: () => answer,
    executeStream: () => Stream.fromIterableEffect(answer),
    executeValues: () => answer,
    executeValuesUnprepared: () => answer,
    executeUnprepared: () => answer
  }
  const layer = Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({
      acquirer: Effect.succeed(connection),
      compiler: Statement.makeCompilerSqlite(),
      driver: "test",
      spanAttributes: []
    })
  ).pipe(Layer.provide(Reactivity.layer))
  return { database, layer: DatabaseProbe.fromClient.pipe(Layer.provide(layer)) }
}

const isUnavailable = Schema.is(ServiceUnavailable)

/** Whether a request has failed because of the database. */
const isGivenUp = (request: Fiber.Fiber<unknown>) => {
  const exit = request.pollUnsafe()
  return exit !== undefined && Exit.isFailure(exit) && isUnavailable(Cause.squash(exit.cause))
}

describe("a request while the database is silent", () => {
  it.effect("fails within 5 seconds, also if the clock is set back meanwhile", () => {
    const { database, layer } = makeDatabase()
    return Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let back = 0
      const millis = () => clock.currentTimeMillisUnsafe() - back
      const stepping = { ...clock, currentTimeMillisUnsafe: millis, currentTimeMillis: Effect.sync(millis) }
      const watch = yield* Effect.provideService(whileDatabaseAnswers, Clock.Clock, stepping)
      const request = yield* Effect.forkChild(watch(Effect.never))
      yield* TestClock.adjust("3 seconds")
      database.isSilent = true
      back = 3_600_000
      yield* TestClock.adjust("4999 millis")
      assert.isTrue(isGivenUp(request))
    }).pipe(Effect.provide(layer))
  })

  it.effect.prop(
    "fails within 5 seconds, whenever the silence begins",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 }))],
    ([moment]) => {
      const { database, layer } = makeDatabase()
      return Effect.gen(function*() {
        const request = yield* Effect.forkChild((yield* whileDatabaseAnswers)(Effect.never))
        yield* TestClock.adjust(moment)
        assert.isFalse(isGivenUp(request))
        database.isSilent = true
        yield* TestClock.adjust("4999 millis")
        assert.isTrue(isGivenUp(request))
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("fails within 5 seconds while it cannot be interrupted, and ends when the database answers", () => {
    const { database, layer } = makeDatabase()
    return Effect.gen(function*() {
      const begun = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const uninterruptible = Effect.ensuring(
        Effect.uninterruptible(Deferred.await(begun)),
        Deferred.succeed(ended, undefined)
      )
      const handler = Effect.andThen(uninterruptible, Effect.never)
      const request = yield* Effect.forkChild((yield* whileDatabaseAnswers)(handler))
      database.isSilent = true
      yield* TestClock.adjust("4999 millis")
      assert.isTrue(isGivenUp(request))
      assert.isFalse(yield* Deferred.isDone(ended))
      yield* Deferred.succeed(begun, undefined)
      yield* Deferred.await(ended)
    }).pipe(Effect.provide(layer))
  })

  it.effect("fails with all others after one check", () => {
    const { database, layer } = makeDatabase()
    database.isSilent = true
    return Effect.gen(function*() {
      const whileAnswered = yield* whileDatabaseAnswers
      const requests = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => Effect.forkChild(whileAnswered(Effect.never))
      )
      yield* TestClock.adjust("4999 millis")
      assert.isTrue(requests.every(isGivenUp))
      assert.strictEqual(database.asked, 1)
    }).pipe(Effect.provide(layer))
  })
})

describe("a request whose client leaves", () => {
  it.effect("ends before the server forgets it", () => {
    const { layer } = makeDatabase()
    return Effect.gen(function*() {
      const ended = yield* Deferred.make<void>()
      const handler = Effect.onInterrupt(Effect.never, () => Deferred.succeed(ended, undefined))
      const request = yield* Effect.forkChild((yield* whileDatabaseAnswers)(handler), { startImmediately: true })
      yield* Fiber.interrupt(request)
      assert.isTrue(yield* Deferred.isDone(ended))
    }).pipe(Effect.provide(layer))
  })
})

describe("a slow request", () => {
  it.effect("continues while the database answers", () => {
    const { database, layer } = makeDatabase()
    return Effect.gen(function*() {
      const whileAnswered = yield* whileDatabaseAnswers
      const request = yield* Effect.forkChild(whileAnswered(Effect.delay(Effect.succeed("done"), "1 minute")))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Fiber.join(request), "done")
      assert.isAbove(database.asked, 1)
    }).pipe(Effect.provide(layer))
  })
})
