import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../../platform/database/Database.ts"
import * as Query from "../../platform/database/Query.ts"
import type { StateChanges } from "./model/SimulatorState.ts"

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database

  const entries = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ name: Schema.String, value: Schema.String }),
    execute: () => sql`select name, value from sandbox_whatsapp`
  })
  const write = (changed: ReadonlyArray<readonly [string, string]>) =>
    Query.run(sql`
      insert into sandbox_whatsapp (name, value)
      select * from unnest(${changed.map(([name]) => name)}::text[], ${changed.map(([, value]) => value)}::text[])
      on conflict (name) do update set value = excluded.value
    `)
  const remove = (names: ReadonlyArray<string>) =>
    Query.run(sql`delete from sandbox_whatsapp where name = any(${names}::text[])`)
  const host = Query.findOneOption({
    Request: Schema.Void,
    Result: Schema.Struct({ port: Schema.Int }),
    execute: () => sql`select port from sandbox_whatsapp_host where port > 0`
  })
  const wanted = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ wanted: Schema.Boolean }),
    execute: () =>
      sql`select exists(select from sandbox_whatsapp_host) or exists(select from sandbox_whatsapp) as wanted`
  })

  return {
    /** The simulator's whole state, by name. */
    load: Effect.map(
      entries(),
      (rows): ReadonlyMap<string, string> => new Map(rows.map(({ name, value }) => [name, value]))
    ),
    /** Writes changes in one transaction. */
    save: Effect.fn("SandboxWhatsAppRepo.save")(function*(changes: StateChanges) {
      const removed = [...changes].flatMap(([name, value]) => value === null ? [name] : [])
      const changed = [...changes].flatMap(([name, value]) => value === null ? [] : [[name, value] as const])
      if (removed.length > 0) yield* remove(removed)
      if (changed.length > 0) yield* write(changed)
    }, transaction),
    /** Asks the node that may host the simulator to start it. */
    want: Query.run(sql`insert into sandbox_whatsapp_host (port) values (0) on conflict do nothing`),
    /** Whether a node has ever asked for the simulator. */
    isWanted: Effect.map(wanted(), (row) => row.wanted),
    /** Publishes the port of the simulator on this node. */
    announce: (port: number) =>
      Query.run(sql`
        insert into sandbox_whatsapp_host (port) values (${port})
        on conflict (only_row) do update set port = excluded.port, since = now()
      `),
    /** Removes the announcement, unless another node has replaced it. */
    withdraw: (port: number) => Query.run(sql`delete from sandbox_whatsapp_host where port = ${port}`),
    /** The announced port; none while no node hosts the simulator. */
    announced: Effect.map(host(), Option.map(({ port }) => port))
  }
})

/** SQL of the simulated WhatsApp's state and of the port where it listens. */
export class SandboxWhatsAppRepo extends Context.Service<SandboxWhatsAppRepo>()(
  "messaging-service/sandbox/whatsapp/SandboxWhatsAppRepo",
  { make }
) {
  static readonly layer = Layer.effect(SandboxWhatsAppRepo, make)
}
