import { Context, Effect, Exit, Layer, Scope } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import * as EmbeddedPostgres from "../../src/platform/database/embedded/EmbeddedPostgres.ts"
import { freePort } from "../support/freePort.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { eventually, longer } from "../support/waiting.ts"

const remove = (path: string) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))

/**
 * A separate PostgreSQL that syncs to disk as in production, so that it can be killed. It is restarted at once and keeps
 * every committed row.
 */
export class DurableDatabase extends Context.Service<DurableDatabase, {
  /** SIGINT rolls back running transactions and shuts down in order; SIGQUIT crashes the server. */
  readonly restart: (signal: "SIGINT" | "SIGQUIT") => Effect.Effect<void>
}>()("messaging-service/test/faults/DurableDatabase") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-faults-"))
          NodeFs.chmodSync(path, 0o711)
          return path
        }),
        remove
      )
      const lifetime = yield* Scope.make()
      const port = yield* freePort
      const { base } = yield* Effect.acquireRelease(
        EmbeddedPostgres.acquire({ dataDir: NodePath.join(directory, "db"), port }).pipe(Scope.provide(lifetime)),
        (server, exit) =>
          Effect.andThen(Scope.close(lifetime, exit), Effect.andThen(stopped(server.base), remove(server.base)))
      ).pipe(Effect.onError((cause) => Scope.close(lifetime, Exit.failCause(cause))))
      const connection = { host: "127.0.0.1", port, username: "postgres", database: "postgres" }
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`
      const restart = (signal: "SIGINT" | "SIGQUIT") =>
        Effect.sync(() => {
          const [pid] = NodeFs.readFileSync(pidFile(base), "utf8").split("\n")
          NodeProcess.kill(Number(pid), signal)
        })
      return Context.make(DurableDatabase, { restart }).pipe(
        Context.add(TestDatabase, { ...connection, url })
      )
    })
  )
}

const pidFile = (base: string) => NodePath.join(base, "pg18/postmaster.pid")

/** The server removes this file last, when it stops. */
const stopped = (base: string) =>
  eventually(Effect.sync(() => NodeFs.existsSync(pidFile(base))), (runs) => !runs, longer.start)
