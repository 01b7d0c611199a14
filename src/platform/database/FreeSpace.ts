/**
 * Watches how much the database may still grow. Acceptance stops before a full disk would stop everybody: reads,
 * sending and delivery reports go on, and need the rest of the space.
 */
import { Context, Effect, Layer, Metric, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { statfs } from "node:fs/promises"
import { AppConfig } from "../config/AppConfig.ts"
import { DatabaseAddress } from "./Database.ts"
import * as Query from "./Query.ts"

const gigabyte = 1_000_000_000

const interval = "10 seconds"

const remedy = "Free space on the disk of the database, enlarge it, or raise DATABASE_SIZE_LIMIT_GB."

const gauge = Metric.gauge("database_free_bytes", { description: "How much the database may grow" })

/** The measured space, and the mark below which nothing is accepted. */
export interface Space {
  /** Infinite for a PostgreSQL whose size is not limited. */
  readonly freeBytes: number
  readonly markBytes: number
}

/** What is measured: a disk of this machine, a limit of the operator, or both. The smaller rest counts. */
const makeMeasure = Effect.gen(function*() {
  const { databaseSizeLimitGb, freeSpaceMarkGb } = yield* AppConfig
  const { isEmbedded } = yield* DatabaseAddress
  const sql = yield* SqlClient.SqlClient
  const size = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ bytes: Schema.Int }),
    execute: () => sql`select pg_database_size(current_database()) as bytes`
  })
  const directory = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ path: Schema.String }),
    execute: () => sql`select current_setting('data_directory') as path`
  })
  const underLimit = databaseSizeLimitGb === undefined
    ? Effect.succeed(Number.POSITIVE_INFINITY)
    : Effect.map(size(), ({ bytes }) => Math.max(0, databaseSizeLimitGb * gigabyte - bytes))
  const files = isEmbedded ? yield* directory() : undefined
  const onDisk = files === undefined
    ? Effect.succeed(Number.POSITIVE_INFINITY)
    : Effect.map(Effect.promise(() => statfs(files.path)), ({ bavail, bsize }) => bavail * bsize)
  const measure = Effect.map(Effect.all([underLimit, onDisk]), (rests): Space => ({
    freeBytes: Math.min(...rests),
    markBytes: freeSpaceMarkGb * gigabyte
  }))
  return { measure }
})

/** Whether the database has room for more messages. */
export class FreeSpace extends Context.Service<FreeSpace, {
  /** Measures now. */
  readonly measure: Effect.Effect<Space>
  /** Whether the last measurement, at most some seconds old, was below the mark. */
  readonly isLow: Effect.Effect<boolean>
}>()("messaging-service/platform/database/FreeSpace") {
  static readonly layer = Layer.effect(
    FreeSpace,
    Effect.gen(function*() {
      const { measure } = yield* makeMeasure
      let isLow = false
      const sample = Effect.gen(function*() {
        const { freeBytes, markBytes } = yield* measure
        if (Number.isFinite(freeBytes)) yield* Metric.update(gauge, freeBytes)
        const wasLow = isLow
        isLow = freeBytes < markBytes
        if (isLow === wasLow) return
        yield* (isLow
          ? Effect.logError("the database's free space is below the mark, nothing is accepted")
          : Effect.logInfo("the database has free space again")).pipe(
            Effect.annotateLogs({ free_bytes: freeBytes, mark_bytes: markBytes, ...(isLow && { remedy }) })
          )
      })
      yield* sample
      const sampled = Effect.catchCause(
        sample,
        (cause) => Effect.logDebug("measuring the free space of the database failed", cause)
      )
      yield* Effect.forkScoped(Effect.repeat(Effect.delay(sampled, interval), Schedule.forever))
      return FreeSpace.of({ measure, isLow: Effect.sync(() => isLow) })
    })
  )
}
