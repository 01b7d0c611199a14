import { PgClient } from "@effect/sql-pg"
import { Context, Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { temporaryServer } from "../support/temporaryServer.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

/** How a test makes the server refuse, and accept again. `begin` runs when the nodes have migrated the database. */
interface Fault {
  readonly begin: Effect.Effect<void>
  readonly end: Effect.Effect<void>
}

export const faultNames = [
  "read-only",
  "full disk",
  "out of memory",
  "too many connections",
  "statement timeout",
  "lock timeout"
] as const

export type FaultName = typeof faultNames[number]

/** The account of the nodes. It is no superuser, so that limits apply to it. */
const role = "messaging"
const database = "messaging"
const diskSize = 96 * 1024 * 1024

/** A small disk. Undefined for users who may not mount one. */
const smallDisk = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-disk-"))
    NodeFs.chmodSync(path, 0o711)
    const options = ["-t", "tmpfs", "-o", `size=${diskSize}`, "tmpfs", path]
    const isMounted = NodeChildProcess.spawnSync("/bin/mount", options, { stdio: "ignore" }).status === 0
    return { path, isMounted }
  }),
  ({ isMounted, path }) =>
    Effect.sync(() => {
      if (isMounted) NodeChildProcess.spawnSync("/bin/umount", ["-l", path], { stdio: "ignore" })
      NodeFs.rmSync(path, { recursive: true, force: true })
    })
).pipe(Effect.map(({ isMounted, path }) => isMounted ? path : undefined))

/** Fills the disk to its last byte. */
const fill = (path: string) => {
  const file = NodeFs.openSync(NodePath.join(path, "ballast"), "w")
  for (let size = 1024 * 1024; size >= 512; size /= 2) {
    const block = Buffer.alloc(size)
    try {
      while (NodeFs.writeSync(file, block) === size) continue
    } catch {
      // Full for blocks of this size.
    }
  }
  NodeFs.closeSync(file)
}

/** Make every statement that changes a table fail with the state in the table `refusal`. */
const refusing = [
  "create table if not exists refusal (state text)",
  `grant select on refusal to ${role}`,
  `create or replace function refuse() returns trigger language plpgsql as $function$
  declare
    code text;
  begin
    select state into code from refusal;
    if code is not null then raise exception 'refused' using errcode = code; end if;
    return null;
  end $function$`
]

const locked = "email_messages, messages, sms_parts, webhook_queue, whatsapp_outbox"

const make = Effect.gen(function*() {
  const disk = yield* smallDisk
  const { base, port } = yield* temporaryServer()
  const connection = { host: "127.0.0.1", port, username: "postgres" }
  const scope = yield* Effect.scope
  const clientOf = (name: string) =>
    Effect.map(
      Layer.build(PgClient.layer({ ...connection, database: name, maxConnections: 4, connectTimeout: longer.start })),
      Context.get(SqlClient.SqlClient)
    )
  const server = yield* clientOf("postgres")
  const run = (statement: string) => Effect.asVoid(server.unsafe(statement).unprepared).pipe(Effect.orDie)
  const reload = run("select pg_reload_conf()")

  yield* run(`create role ${role} login`)
  if (disk !== undefined) {
    const { gid, uid } = NodeFs.statSync(NodePath.join(base, "pg18"))
    NodeFs.chownSync(disk, uid, gid)
    NodeFs.mkdirSync(NodePath.join(disk, "tablespace"))
    NodeFs.chownSync(NodePath.join(disk, "tablespace"), uid, gid)
    yield* run(`create tablespace small location '${NodePath.join(disk, "tablespace")}'`)
  }
  yield* run(`create database ${database} owner ${role} ${disk === undefined ? "" : "tablespace small"}`)
  const inside = yield* clientOf(database)
  const disconnect = run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`)

  const refuseWith = (state: string): Fault => ({
    begin: Effect.gen(function*() {
      for (const statement of refusing) yield* inside.unsafe(statement).unprepared
      const tables = yield* inside`select c.oid::regclass::text as name from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and c.relname not in ('refusal', 'migrations')`
      // One at a time, because locks on several tables could deadlock with the node.
      for (const { name } of tables) {
        yield* inside.unsafe(`create or replace trigger refuse before insert or update or delete on ${String(name)}
          execute function refuse()`).unprepared
      }
      yield* inside`insert into refusal values (${state})`
    }).pipe(Effect.orDie, Effect.asVoid),
    end: Effect.asVoid(Effect.orDie(inside`delete from refusal`))
  })

  const fullDisk = (path: string): Fault => ({
    begin: Effect.sync(() => fill(path)),
    end: Effect.sync(() => NodeFs.rmSync(NodePath.join(path, "ballast")))
  })

  /** Locks tables, and ends the statements that wait for them. */
  const locks = (endWaiting: Effect.Effect<void>, settled: Effect.Effect<void>): Fault => {
    let release = Effect.void as Effect.Effect<unknown>
    const hold = Effect.gen(function*() {
      const isHeld = yield* Deferred.make<void>()
      const letGo = yield* Deferred.make<void>()
      const holder = yield* Effect.forkIn(
        inside.withTransaction(Effect.gen(function*() {
          for (const own of ["lock_timeout = 0", "deadlock_timeout = '1min'"]) {
            yield* inside.unsafe(`set local ${own}`).unprepared
          }
          yield* inside.unsafe(`lock table ${locked} in access exclusive mode`).unprepared
          yield* Deferred.succeed(isHeld, undefined)
          yield* Deferred.await(letGo)
        })),
        scope
      )
      const ending = yield* Effect.forkIn(endWaiting, scope)
      release = Effect.andThen(
        Effect.andThen(Deferred.succeed(letGo, undefined), Fiber.await(holder)),
        Fiber.interrupt(ending)
      )
      yield* Deferred.await(isHeld)
    })
    return { begin: hold, end: Effect.andThen(Effect.suspend(() => release), settled) }
  }

  /** As `statement_timeout` does, but for nodes that set their own. */
  const cancelSlow = run(`select pg_cancel_backend(pid) from pg_stat_activity
    where usename = '${role}' and state = 'active' and query_start < clock_timestamp() - interval '300 ms'`)

  const held = locks(Effect.never, Effect.andThen(run("alter system reset lock_timeout"), reload))
  /** A session reads the limit when it begins to wait. */
  const lockTimeout: Fault = {
    begin: Effect.andThen(run("alter system set lock_timeout = '300ms'"), Effect.andThen(reload, held.begin)),
    end: held.end
  }

  const faults: Record<FaultName, Fault> = {
    "read-only": {
      begin: Effect.andThen(run("alter system set default_transaction_read_only = on"), reload),
      end: Effect.andThen(run("alter system reset default_transaction_read_only"), reload)
    },
    "full disk": disk === undefined ? refuseWith("53100") : fullDisk(disk),
    "out of memory": refuseWith("53200"),
    "too many connections": {
      begin: Effect.andThen(run(`alter role ${role} connection limit 0`), disconnect),
      end: run(`alter role ${role} connection limit -1`)
    },
    "statement timeout": locks(
      Effect.repeat(cancelSlow, Schedule.spaced("100 millis")).pipe(Effect.asVoid),
      Effect.void
    ),
    "lock timeout": lockTimeout
  }

  return Context.make(RefusingDatabase, {
    faults,
    readOnlySessions: (isOn) =>
      isOn
        ? Effect.andThen(run(`alter role ${role} set default_transaction_read_only = on`), disconnect)
        : run(`alter role ${role} reset default_transaction_read_only`)
  }).pipe(Context.add(TestDatabase, {
    ...connection,
    database,
    url: `postgres://${role}@127.0.0.1:${port}/${database}`
  }))
})

/** A PostgreSQL that can be made to refuse statements in each of the ways in which a server says no. */
export class RefusingDatabase extends Context.Service<RefusingDatabase, {
  readonly faults: Readonly<Record<FaultName, Fault>>
  /**
   * Sets whether new sessions of the nodes are read-only. A session stays as it began, like one on a demoted primary. When
   * on, the present ones end.
   */
  readonly readOnlySessions: (isOn: boolean) => Effect.Effect<void>
}>()("messaging-service/test/faults/RefusingDatabase") {
  static readonly layer: Layer.Layer<RefusingDatabase | TestDatabase, unknown> = Layer.effectContext(make)
}
