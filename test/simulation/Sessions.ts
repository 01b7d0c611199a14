import { PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Scope } from "effect"
import type { SqlError } from "effect/sql"
import * as PgCodecs from "../../src/platform/database/PgCodecs.ts"
import type { Connection } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

export type Answer = Exit.Exit<PgConnection.Result, SqlError.SqlError>

export type Statement = readonly [sql: string, values?: ReadonlyArray<unknown>]

/** PostgreSQL looks for deadlocks once, so many milliseconds after a session begins to wait. */
export const deadlockTimeoutMillis = 20

/** A connection to the database of a simulation. */
export class Session {
  readonly #connection: PgConnection.PgConnection

  constructor(connection: PgConnection.PgConnection) {
    this.#connection = connection
  }

  get pid(): number {
    return this.#connection.processId
  }

  /** Sends statements together. Returns the first failure, or the last answer. */
  async send(...statements: ReadonlyArray<Statement>): Promise<Answer> {
    const answers = await Promise.all(
      statements.map(([sql, values]) => Effect.runPromiseExit(this.#connection.query(sql, values)))
    )
    const answer = answers.find(Exit.isFailure) ?? answers.at(-1)
    if (answer === undefined) throw new RangeError("there is no statement")
    return answer
  }

  /** The rows of a statement that must not fail. */
  async rows(...statements: ReadonlyArray<Statement>): Promise<ReadonlyArray<PgConnection.Row>> {
    const answer = await this.send(...statements)
    if (Exit.isFailure(answer)) throw new Error(`a statement of the simulation failed: ${answer.cause}`)
    return answer.value.rows
  }
}

/** Connections to the database of a simulation. One of them runs the statements of the simulation itself. */
export class Sessions {
  readonly monitor: Session
  readonly #open: () => Promise<Session>
  readonly #idle: Array<Session> = []

  constructor(monitor: Session, open: () => Promise<Session>) {
    this.monitor = monitor
    this.#open = open
  }

  async take(): Promise<Session> {
    return this.#idle.pop() ?? await this.#open()
  }

  put(session: Session): void {
    this.#idle.push(session)
  }
}

export const makeSessions = Effect.fnUntraced(function*({ database, host, port, username }: Connection) {
  const scope = yield* Effect.scope
  const runPromise = Effect.runPromiseWith(yield* Effect.context())
  const open = PgConnection.make({
    database,
    host,
    port,
    username,
    connectTimeout: longer.start,
    multiplex: true,
    types: PgCodecs.registry,
    startupParameters: {
      search_path: "simulation, pg_catalog, public",
      "simulation.now": "2030-01-31T09:00:00Z",
      "simulation.clock": "2030-01-31T09:00:00Z",
      "simulation.writer": "setup",
      // Of two plans, the one that depends on earlier statements would not replay.
      plan_cache_mode: "force_generic_plan",
      enable_seqscan: "off",
      deadlock_timeout: `${deadlockTimeoutMillis}ms`
    }
  }).pipe(Effect.map((connection) => new Session(connection)), Scope.provide(scope), Effect.orDie)
  return new Sessions(yield* open, () => runPromise(open))
})
