import { Clock, Context, Effect, FileSystem, Layer, Result, Schema } from "effect"
import * as NodePath from "node:path"
import { Database } from "../platform/database/Database.ts"
import { directory } from "../platform/database/Migrations.ts"
import { readPrices } from "./priceFile.ts"
import { type PriceRow, PricesRepo } from "./PricesRepo.ts"

/** How old the prices may be that messages are charged by. */
const freshFor = 5_000

/** The list that a new database begins with. Its figures are examples. */
const example = NodePath.join(directory, "seed", "sms_prices.csv")

/** A price list that cannot be taken; nothing was changed. */
export class PriceListUnusable extends Schema.TaggedError<PriceListUnusable>()("PriceListUnusable", {
  reason: Schema.String
}) {
  override get message() {
    return `The price list was not taken, and nothing was changed: ${this.reason}.`
  }
}

/** What became of an import. */
export interface Imported {
  readonly total: number
  readonly changed: number
  /** Countries that were taken off the list. */
  readonly disabled: number
}

/** What an SMS segment costs in each country (spec 4.6). */
export class Prices extends Context.Service<Prices, {
  /** Enabled countries by their names, as they are now. */
  readonly list: Effect.Effect<ReadonlyArray<PriceRow>>
  /** Micro-dollars of a segment, undefined where nothing is sent to. At most five seconds behind an import. */
  readonly of: (country: string) => Effect.Effect<number | undefined>
  /** Takes a whole list or nothing of it; only what differs is written. `replace` takes every other country off the list. */
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
      const list = repo.listed()
      let known: { readonly until: number; readonly prices: ReadonlyMap<string, number> } = {
        until: 0,
        prices: new Map()
      }

      const take = Effect.fn("Prices.import")(
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

      // Of several nodes that start at once on a new database, one writes the examples.
      yield* transaction(Effect.gen(function*() {
        if (!(yield* repo.isEmpty()).empty) return
        yield* repo.lock
        if ((yield* repo.isEmpty()).empty) yield* take(yield* fs.readFileString(example), { replace: false })
      })).pipe(Effect.orDie)

      return Prices.of({
        list,
        of: Effect.fn("Prices.of")(function*(country: string) {
          const now = yield* Clock.currentTimeMillis
          if (now >= known.until) {
            const rows = yield* list
            known = { until: now + freshFor, prices: new Map(rows.map((row) => [row.code, row.price_micros])) }
          }
          return known.prices.get(country)
        }),
        import: take
      })
    })
  ).pipe(Layer.provide(PricesRepo.layer))
}
