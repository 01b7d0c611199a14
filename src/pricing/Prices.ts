import { Clock, Context, Effect, FileSystem, Layer, Result, Schema } from "effect"
import * as NodePath from "node:path"
import { Database } from "../platform/database/Database.ts"
import { directory } from "../platform/database/Migrations.ts"
import { millisOf } from "../platform/schedule/monotonic.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { readPrices } from "./priceFile.ts"
import { type PriceRow, PricesRepo } from "./PricesRepo.ts"

/** The maximum age in milliseconds of the prices that are listed and that messages are charged by. */
const maxAge = 5_000

/** How long a load may take before another caller tries too. */
const loadTime = 1_000

/** It is the same object until the list changes. */
export interface PriceTable {
  /** The countries of the list, ordered by name. */
  readonly rows: ReadonlyArray<PriceRow>
  /** When a country was last added, changed or removed. */
  readonly updatedAt: Timestamp
  readonly micros: ReadonlyMap<string, number>
}

const never = Timestamp.make("1970-01-01T00:00:00.000000Z")

const tableOf = (all: ReadonlyArray<PriceRow>): PriceTable => {
  const rows = all.filter(({ enabled }) => enabled)
  return {
    rows,
    updatedAt: all.reduce((latest, { updated_at }) => updated_at > latest ? updated_at : latest, never),
    micros: new Map(rows.map((row) => [row.code, row.price_micros]))
  }
}

/** Loads a table, and keeps it until it is too old. While one caller loads the next table, the others use the old one. */
const makeTable = <R>(clock: Clock.Clock, list: Effect.Effect<ReadonlyArray<PriceRow>, never, R>) => {
  let table: PriceTable | undefined
  let until = -Infinity
  const fresh = () => millisOf(clock) < until ? table : undefined
  const current = Effect.gen(function*() {
    const known = fresh()
    if (known !== undefined) return known
    const now = millisOf(clock)
    until = now + loadTime
    const loaded = tableOf(yield* list)
    if (table === undefined || JSON.stringify(loaded) !== JSON.stringify(table)) table = loaded
    until = now + maxAge - loadTime
    return table
  })
  return { current, fresh }
}

/** The list of a new database. Its prices are examples. */
const example = NodePath.join(directory, "seed", "sms_prices.csv")

/** The price list is invalid. Nothing was changed. */
export class PriceListUnusable extends Schema.TaggedError<PriceListUnusable>()("PriceListUnusable", {
  reason: Schema.String
}) {
  override get message() {
    return `The price list is invalid, and nothing was changed: ${this.reason}.`
  }
}

/** The result of an import. */
export interface Imported {
  readonly total: number
  readonly changed: number
  /** Countries that were removed. */
  readonly disabled: number
}

/** Prices of an SMS segment by country (spec 4.6). */
export class Prices extends Context.Service<Prices, {
  /** At most five seconds behind an import. */
  readonly current: Effect.Effect<PriceTable>
  /** The same table, unless it is too old or not loaded yet. */
  readonly fresh: () => PriceTable | undefined
  /** Micro-dollars of a segment; undefined for a country without a price. At most five seconds behind an import. */
  readonly of: (country: string) => Effect.Effect<number | undefined>
  /** Imports a list entirely or not at all, and writes only changed rows. `replace` removes every other country. */
  readonly import: (
    text: string,
    options: { readonly replace: boolean }
  ) => Effect.Effect<Imported, PriceListUnusable>
}>()("messaging-service/pricing/Prices") {
  static readonly layer = Layer.effect(
    Prices,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const fs = yield* FileSystem.FileSystem
      const repo = yield* PricesRepo
      const { current, fresh } = makeTable(yield* Clock.Clock, repo.listed())

      const importList = Effect.fn("Prices.import")(
        function*(text: string, { replace }: { readonly replace: boolean }) {
          const read = readPrices(text)
          if (Result.isFailure(read)) return yield* new PriceListUnusable({ reason: read.failure })
          const lines = read.success
          const write = Effect.gen(function*() {
            const { changed } = yield* repo.write(lines)
            const others = replace ? yield* repo.disableOthers(lines.map(({ code }) => code)) : undefined
            return { total: lines.length, changed, disabled: others?.disabled ?? 0 }
          })
          return yield* transaction(write)
        }
      )

      // Of several nodes that start at once on a new database, one imports the examples.
      yield* transaction(Effect.gen(function*() {
        if (!(yield* repo.isEmpty()).empty) return
        yield* repo.lock
        if ((yield* repo.isEmpty()).empty) yield* importList(yield* fs.readFileString(example), { replace: false })
      })).pipe(Effect.orDie)

      return Prices.of({
        current,
        fresh,
        of: (country) => Effect.map(current, ({ micros }) => micros.get(country)),
        import: importList
      })
    })
  ).pipe(Layer.provide(PricesRepo.layer))
}
