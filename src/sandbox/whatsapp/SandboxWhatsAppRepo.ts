import { Effect, Layer, Option, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { StateChanges } from "./model/SimulatorState.ts"
import { SandboxWhatsAppStore } from "./SandboxWhatsAppStore.ts"

const makeReads = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const entries = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ name: Schema.String, value: Schema.String }),
    execute: () => sql`select name, value from sandbox_whatsapp`
  })
  const host = SqlSchema.findOneOption({
    Request: Schema.Void,
    Result: Schema.Struct({ port: Schema.Int }),
    execute: () => sql`select port from sandbox_whatsapp_host`
  })
  return { entries, host }
})

const makeSave = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const write = (entries: ReadonlyArray<readonly [string, string]>) =>
    sql`
      insert into sandbox_whatsapp (name, value)
      select * from unnest(${entries.map(([name]) => name)}::text[], ${entries.map(([, value]) => value)}::text[])
      on conflict (name) do update set value = excluded.value
    `
  return Effect.fn("SandboxWhatsAppRepo.save")(function*(changes: StateChanges) {
    const gone = [...changes].flatMap(([name, value]) => value === null ? [name] : [])
    const written = [...changes].flatMap(([name, value]) => value === null ? [] : [[name, value] as const])
    if (gone.length > 0) yield* sql`delete from sandbox_whatsapp where name = any(${gone}::text[])`
    if (written.length > 0) yield* write(written)
  }, sql.withTransaction)
})

/** The store in the tables `sandbox_whatsapp` and `sandbox_whatsapp_host`. */
const layer: Layer.Layer<SandboxWhatsAppStore, never, SqlClient.SqlClient> = Layer.effect(
  SandboxWhatsAppStore,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const reads = yield* makeReads
    const save = yield* makeSave
    return SandboxWhatsAppStore.of({
      load: Effect.orDie(
        Effect.map(reads.entries(), (entries) => new Map(entries.map(({ name, value }) => [name, value])))
      ),
      save: (changes) => Effect.orDie(save(changes)),
      announce: Effect.fn("SandboxWhatsAppRepo.announce")(function*(port: number) {
        yield* sql`
          insert into sandbox_whatsapp_host (port) values (${port})
          on conflict (only_row) do update set port = excluded.port, since = now()
        `
      }, Effect.orDie),
      withdraw: (port) => Effect.orDie(sql`delete from sandbox_whatsapp_host where port = ${port}`),
      announced: Effect.orDie(Effect.map(reads.host(), Option.map(({ port }) => port)))
    })
  })
)

/** SQL implementation of the `SandboxWhatsAppStore` port. */
export const SandboxWhatsAppRepo = { layer } as const
