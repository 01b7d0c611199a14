import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { PriceLine } from "./priceFile.ts"

const Row = Schema.Struct({
  code: Schema.String,
  country: Schema.String,
  dial_prefix: Schema.String,
  price_micros: Schema.Int,
  enabled: Schema.Boolean,
  updated_at: Timestamp
})
export type PriceRow = typeof Row.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** With the removed countries. */
  const listed = Query.findAll({
    Request: Schema.Void,
    Result: Row,
    execute: () =>
      sql`select code, country, dial_prefix, price_micros, enabled, updated_at from sms_prices
        order by country collate "C", code`
  })

  const columns = (lines: ReadonlyArray<PriceLine>) =>
    sql`unnest(${column.text(lines.map(({ code }) => code))}, ${column.text(lines.map(({ country }) => country))},
      ${column.text(lines.map(({ dialPrefix }) => dialPrefix))},
      ${column.int8(lines.map(({ priceMicros }) => priceMicros))}) as t (code, country, dial_prefix, price_micros)`

  /** Writes changed rows, and changed prices into the history. Returns the number of changed countries. */
  const write = Query.findOne({
    Request: Schema.Array(PriceLine),
    Result: Schema.Struct({ changed: Schema.Int }),
    execute: (lines) =>
      sql`with changed as (
          insert into sms_prices as p (code, country, dial_prefix, price_micros)
          select * from ${columns(lines)} order by code
          on conflict (code) do update set country = excluded.country, dial_prefix = excluded.dial_prefix,
            price_micros = excluded.price_micros, enabled = true, updated_at = now()
          where (p.country, p.dial_prefix, p.price_micros, p.enabled)
            is distinct from (excluded.country, excluded.dial_prefix, excluded.price_micros, true)
          returning code, price_micros
        ), noted as (
          insert into sms_price_history (code, price_micros)
          select c.code, c.price_micros from changed c
          where c.price_micros is distinct from (select h.price_micros from sms_price_history h
            where h.code = c.code order by h.valid_from desc limit 1)
          on conflict (code, valid_from) do update set price_micros = excluded.price_micros
        )
        select count(*) as changed from changed`
  })

  /** Removes every other country. */
  const disableOthers = Query.findOne({
    Request: Schema.Array(Schema.String),
    Result: Schema.Struct({ disabled: Schema.Int }),
    execute: (codes) =>
      sql`with gone as (
          update sms_prices set enabled = false, updated_at = now()
          where enabled and code <> all(${column.text(codes)}) returning 1
        )
        select count(*) as disabled from gone`
  })

  const isEmpty = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ empty: Schema.Boolean }),
    execute: () => sql`select not exists (select from sms_prices) as empty`
  })

  const lock = Query.run(sql`lock table sms_prices in share row exclusive mode`)

  return { listed, write, disableOthers, isEmpty, lock }
})

/** SQL of `sms_prices` and its history. */
export class PricesRepo extends Context.Service<PricesRepo>()("messaging-service/pricing/PricesRepo", { make }) {
  static readonly layer = Layer.effect(PricesRepo, make)
}
