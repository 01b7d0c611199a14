/**
 * The PostgreSQL of a simulation: a real database by the virtual time. One statement runs at a time. A statement that waits
 * for the lock of another transaction stays behind while the simulation goes on.
 */
import { Exit } from "effect"
import { SqlError } from "effect/sql"
import type { Answer, Session, Sessions, Statement } from "./Sessions.ts"
import type { Host, Simulation } from "./Simulation.ts"

/** A node as the server sees it. */
export interface ClientNode extends Host {
  readonly name: string
}

/** Receives the answer to a statement. */
export type Done = (answer: Answer) => Promise<void>

interface Blocked {
  readonly session: Session
  readonly answer: Promise<Answer>
  isSettled: boolean
  readonly done: Done
}

/** After this many milliseconds of real time, the server is asked whether a statement waits for a lock. */
const lockCheckMillis = 5

/** A transaction that is idle for this long is ended, as in a real node (`Database`). */
const idleTimeoutMillis = 8_000

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

/** The failure of a statement whose connection is gone. */
export const connectionLost = () =>
  Exit.fail(
    new SqlError.SqlError({
      reason: new SqlError.ConnectionError({
        cause: new Error("cut"),
        message: "the connection was cut",
        operation: "execute"
      })
    })
  )

/** A transaction of a node. The server can end it at any time. */
export class Transaction {
  readonly node: ClientNode
  readonly #server: SimulatedServer
  #session: Session | undefined
  #isLost = false
  #activity = 0

  constructor(server: SimulatedServer, node: ClientNode) {
    this.#server = server
    this.node = node
  }

  async execute(sql: string, values: ReadonlyArray<unknown>, done: Done): Promise<void> {
    if (this.#isLost) return await done(connectionLost())
    const isFirst = this.#session === undefined
    const session = this.#session ?? await this.#server.begin(this)
    this.#session = session
    this.#activity++
    const begin: ReadonlyArray<Statement> = isFirst ? [["BEGIN"], this.#server.stamp("now", this.node)] : []
    await this.#server.run(session, [...begin, this.#server.stamp("clock", this.node), [sql, values]], (answer) => {
      this.#watch()
      return done(answer)
    })
  }

  /** Commits or rolls back. */
  async end(sql: string, done: Done): Promise<void> {
    const session = this.#session
    if (this.#isLost) return await done(connectionLost())
    if (session === undefined) {
      return await done(Exit.succeed({ command: sql, rowCount: 0, oid: null, rows: [], fields: [] }))
    }
    this.#isLost = true
    // The client may have given up a statement that still waits for a lock.
    await this.#server.cancel(session)
    const answer = await session.send([sql])
    await this.#server.end(this, session)
    await done(answer)
  }

  /** Ends it on the server, because its client is gone or frozen. */
  async abort(): Promise<void> {
    const session = this.#session
    if (this.#isLost || session === undefined) return
    this.#isLost = true
    await this.#server.cancel(session)
    await session.send(["ROLLBACK"])
    await this.#server.end(this, session)
  }

  #watch(): void {
    const activity = this.#activity
    this.#server.simulation.plan({
      after: idleTimeoutMillis,
      run: () => activity === this.#activity ? this.abort() : undefined
    })
  }
}

export class SimulatedServer {
  readonly simulation: Simulation
  readonly #sessions: Sessions
  readonly #open = new Set<Transaction>()
  #blocked: Array<Blocked> = []
  #micros = 0

  constructor(simulation: Simulation, sessions: Sessions) {
    this.simulation = simulation
    this.#sessions = sessions
  }

  /** Sets the time and the writer for the following statements. No two transactions have the same time. */
  stamp(of: "now" | "clock", { name }: ClientNode): Statement {
    this.#micros = Math.max(this.simulation.now * 1000, this.#micros + 1)
    const millis = Math.floor(this.#micros / 1000)
    const text = new Date(millis).toISOString().replace("Z", `${String(this.#micros % 1000).padStart(3, "0")}Z`)
    return [
      of === "now"
        ? "select set_config('simulation.now', $1, false), set_config('simulation.writer', $2, false)"
        : "select set_config('simulation.clock', $1, false), set_config('simulation.writer', $2, false)",
      [text, name]
    ]
  }

  /** Runs a statement in a transaction by itself. */
  async execute(node: ClientNode, sql: string, values: ReadonlyArray<unknown>, done: Done) {
    const session = await this.#sessions.take()
    await this.run(session, [this.stamp("now", node), this.stamp("clock", node), [sql, values]], (answer) => {
      this.#sessions.put(session)
      return done(answer)
    })
  }

  /** Runs a statement of the simulation itself. */
  async executeNow(name: string, statement: Statement): Promise<void> {
    const client = { name, isDead: false, frozenUntil: 0 }
    await this.#sessions.monitor.rows(this.stamp("now", client), this.stamp("clock", client), statement)
  }

  /** Runs statements. Calls `done` before it returns, or after another transaction has released a lock. */
  async run(session: Session, statements: ReadonlyArray<Statement>, done: Done): Promise<void> {
    const blocked: Blocked = { session, answer: session.send(...statements), isSettled: false, done }
    void blocked.answer.then(() => {
      blocked.isSettled = true
    })
    if (this.#open.size === 0) return await done(await blocked.answer)
    if (await this.#settles(blocked)) return await done(await blocked.answer)
    this.simulation.note("  which waits for a lock")
    this.#blocked.push(blocked)
    // If they wait for each other, PostgreSQL cancels one of them.
    if (this.#blocked.length > 1) await this.#resume(40)
  }

  async begin(transaction: Transaction): Promise<Session> {
    this.#open.add(transaction)
    return await this.#sessions.take()
  }

  async end(transaction: Transaction, session: Session): Promise<void> {
    this.#open.delete(transaction)
    this.#sessions.put(session)
    await this.#resume(0)
  }

  /** Cancels the statement of a session that waits for a lock. */
  async cancel(session: Session): Promise<void> {
    const waiting = this.#blocked.find((blocked) => blocked.session === session)
    if (waiting === undefined) return
    this.#blocked = this.#blocked.filter((blocked) => blocked !== waiting)
    await this.#sessions.monitor.rows(["select pg_cancel_backend($1)", [session.pid]])
    await waiting.answer
    await waiting.done(connectionLost())
  }

  /** Ends the transactions of a node, or all. */
  async abandon(node?: ClientNode): Promise<void> {
    for (const transaction of this.#open) {
      if (node === undefined || transaction.node === node) await transaction.abort()
    }
  }

  /** Goes on with statements that have got their lock. */
  async #resume(millis: number): Promise<void> {
    if (this.#blocked.length === 0) return
    await pause(millis)
    const settled: Array<Blocked> = []
    for (const blocked of this.#blocked) if (await this.#settles(blocked)) settled.push(blocked)
    this.#blocked = this.#blocked.filter((blocked) => !settled.includes(blocked))
    for (const { answer, done } of settled) await done(await answer)
  }

  /** Waits until the statement has ended, or waits for a lock. */
  async #settles(blocked: Blocked): Promise<boolean> {
    while (!blocked.isSettled) {
      await Promise.race([blocked.answer, pause(lockCheckMillis)])
      if (blocked.isSettled) return true
      const [row] = await this.#sessions.monitor.rows([
        "select cardinality(pg_blocking_pids($1)) > 0 as waits",
        [blocked.session.pid]
      ])
      if (row?.["waits"] === true) return false
    }
    return true
  }
}
