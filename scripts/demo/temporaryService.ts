import { Deferred, Effect, FileSystem, Redacted, Schedule, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as NodeCrypto from "node:crypto"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { settings } from "../../src/platform/config/settings.ts"

/** A service to drive: its address without a final slash, a key of full access, and the token of its sandbox. */
export interface Target {
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted
  readonly sandboxToken: Redacted.Redacted
}

interface TemporaryService extends Target {
  readonly setupLink: Redacted.Redacted
}

/** The service ended before it was ready. */
export class ServiceEnded extends Schema.TaggedError<ServiceEnded>()("ServiceEnded", {}) {
  override get message() {
    return "The service ended before it was ready. Its log above has the reason."
  }
}

const main = NodePath.resolve(import.meta.dirname, "../../src/main.ts")

/** The link that a start prints. */
const link = /^ {2}(http:\S+)\/\?token=/

/** The service ignores the settings of this shell and its working directory, so that it has no relay. */
const defaults = Object.fromEntries(Object.values(settings).map(({ name }) => [name, undefined]))

/** An empty directory, removed with the scope after the database in it has stopped. */
const temporaryDirectory = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped({ prefix: "messaging-demo-" })
  // If root runs this, the embedded PostgreSQL's account must be able to enter the directory.
  yield* fs.chmod(directory, 0o711)
  yield* Effect.addFinalizer(() =>
    fs.exists(NodePath.join(directory, "db/pg18/postmaster.pid")).pipe(
      Effect.repeat({ while: (runs) => runs, schedule: Schedule.spaced("20 millis") }),
      Effect.timeoutOption("10 seconds"),
      Effect.ignore
    )
  )
  return directory
})

/** What a first start writes before it prints its link: a key, and the link to set up the console. */
const secretIn = Effect.fnUntraced(function*(directory: string, name: "first-key" | "setup-link") {
  const fs = yield* FileSystem.FileSystem
  return Redacted.make((yield* fs.readFileString(NodePath.join(directory, name))).trim())
})

/** A service with an empty database, started like `npm start`. The scope removes it and its files. */
export const temporaryService = Effect.gen(function*() {
  const directory = yield* temporaryDirectory
  const sandboxToken = NodeCrypto.randomUUID()
  const service = yield* ChildProcess.make(NodeProcess.execPath, [main, "serve"], {
    cwd: directory,
    env: {
      ...defaults,
      DATA_DIR: directory,
      SANDBOX_TOKEN: sandboxToken,
      PORT: "0",
      LOG_LEVEL: "warning",
      LOG_FORMAT: "pretty"
    },
    extendEnv: true,
    stdin: "ignore",
    stderr: "inherit",
    forceKillAfter: "15 seconds"
  })
  const ready = yield* Deferred.make<TemporaryService, ServiceEnded>()
  yield* service.stdout.pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      const [, baseUrl] = link.exec(line) ?? []
      if (baseUrl === undefined) return Effect.void
      return Effect.flatMap(
        Effect.all({ apiKey: secretIn(directory, "first-key"), setupLink: secretIn(directory, "setup-link") }),
        (secrets) => Deferred.succeed(ready, { baseUrl, ...secrets, sandboxToken: Redacted.make(sandboxToken) })
      )
    }),
    Effect.ignore,
    Effect.andThen(Deferred.fail(ready, new ServiceEnded())),
    Effect.forkScoped
  )
  return yield* Deferred.await(ready)
})
