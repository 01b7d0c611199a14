import { Effect, Exit, Scope } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as EmbeddedPostgres from "../../src/platform/database/embedded/EmbeddedPostgres.ts"
import { freePort } from "./freePort.ts"
import { eventually, longer } from "./waiting.ts"

/**
 * A temporary PostgreSQL, removed with the scope, processes and files included. Tests connect to its port, like to an
 * operator's server: a unix socket refuses connections (EAGAIN) when many arrive at once.
 */
export const temporaryServer = Effect.fnUntraced(function*(
  settings: Readonly<Record<string, string>> = {},
  parent: string = NodeOs.tmpdir()
) {
  const directory = yield* Effect.acquireRelease(makeDirectoryIn(parent), remove)
  const lifetime = yield* Scope.make()
  const port = yield* freePort
  const server = yield* Effect.acquireRelease(
    EmbeddedPostgres.acquire({ dataDir: NodePath.join(directory, "db"), durable: false, port, settings }).pipe(
      Scope.provide(lifetime),
      Effect.onError((cause) => Scope.close(lifetime, Exit.failCause(cause)))
    ),
    ({ base }, exit) =>
      Scope.close(lifetime, exit).pipe(
        Effect.andThen(stopped(base)),
        Effect.andThen(remove(base))
      )
  )
  return { ...server, port }
})

const makeDirectoryIn = (parent: string) =>
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(parent, "messaging-test-"))
    // mkdtemp sets mode 700; when root runs the tests, the server's account must be able to enter the directory.
    NodeFs.chmodSync(path, 0o711)
    return path
  })

const remove = (path: string) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))

/** The server removes this file last, when it stops. */
const stopped = (base: string) =>
  eventually(
    Effect.sync(() => NodeFs.existsSync(NodePath.join(base, "pg18/postmaster.pid"))),
    (runs) => !runs,
    longer.start
  )
