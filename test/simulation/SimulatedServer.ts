/**
 * The PostgreSQL of a simulation: a real database by the virtual time. One statement runs at a time. A statement that waits
 * for the lock of another transaction stays behind while the simulation goes on.
 */
import { Exit, Option } from "effect"
import { SqlError } from "effect/sql"
import { type Answer, deadlockTimeoutMillis, type Session, type Sessions, type Statement } from "./Sessions.ts"
import type { Host, Simulation } from "./Simulation.ts"

/** A node as the server sees it. */
export interface ClientNode extends Host {
  readonly name: string
}

/** Receives the answer to a statement. */
export type Done = (answer: Answer) => Promise<void>

/** A statement that waits for a lock. */
interface Waiting {
  readonly session: Session
  readonly statement: Statement
  readonly done: Done
}

/** One whose session waits in PostgreSQL. */
interface Blocked extends Waiting {
  readonly answer: Promise<Answer>
  isSettled: boolean
}

/** After this many milliseconds of real time, the server is asked whether a statement waits for a lock. */
const lockCheckMillis = 5

/** A transaction that is idle for this long is ended, as in a real node (`Database`). */
const idleTimeoutMillis = 8_000

const pause = (millis: number) => new Promise<void>((resolve) => setTimeout(resolve, millis))

const isLockTimeout = (answer: Answer) =>
  Exit.isFailure(answer)
  && Option.exists(Exit.findErrorOption(answer), ({ reason }) => reason._tag === "LockTimeoutError")

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
    const isFirst = this.#session === undefined
    // The client may have given up a statement that still waits for a lock.
    if (this.#session !== undefined && !this.#isLost) await this.#server.cancel(this.#session)
    if (this.#isLost) return await done(connectionLost())
    this.#session ??= await this.#server.begin(this)
    const session = this.#session
    this.#activity++
    const begin: ReadonlyArray<Statement> = isFirst ? [["BEGIN"], this.#server.stamp("now", this.node)] : []
    const before = [...begin, this.#server.stamp("clock", this.node)]
    await this.#server.run(before, {
      session,
      statement: [sql, values],
      done: (answer) => {
        this.#watch()
        return done(answer)
      }
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
  readonly #open = new Map<Transaction, Session>()
  /** At most one, unless there was a deadlock: which of several goes on first would be up to PostgreSQL. */
  #blocked: ReadonlyArray<Blocked> = []
  /** The others, in the order in which they run again. */
  #postponed: ReadonlyArray<Waiting> = []
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
    await this.run([this.stamp("now", node), this.stamp("clock", node)], {
      session,
      statement: [sql, values],
      done: (answer) => {
        this.#sessions.put(session)
        return done(answer)
      }
    })
  }

  /** Runs a statement of the simulation itself. */
  async executeNow(name: string, statement: Statement): Promise<void> {
    const client = { name, isDead: false, frozenUntil: 0 }
    await this.#sessions.monitor.rows(this.stamp("now", client), this.stamp("clock", client), statement)
  }

  /** Runs a statement after others. Calls `done` before it returns, or after another transaction has released a lock. */
  async run(before: ReadonlyArray<Statement>, waiting: Waiting): Promise<void> {
    const answer = await this.#answer(waiting, before)
    if (answer !== undefined) return await waiting.done(answer)
    this.simulation.note("  which waits for a lock")
    await this.#resolveDeadlock()
  }

  async begin(transaction: Transaction): Promise<Session> {
    const session = await this.#sessions.take()
    this.#open.set(transaction, session)
    return session
  }

  async end(transaction: Transaction, session: Session): Promise<void> {
    this.#open.delete(transaction)
    this.#sessions.put(session)
    await this.#resume()
    await this.#resolveDeadlock()
  }

  /** Cancels the statement of a session that waits for a lock. */
  async cancel(session: Session): Promise<void> {
    const blocked = this.#blocked.find((one) => one.session === session)
    const waiting = blocked ?? this.#postponed.find((one) => one.session === session)
    if (waiting === undefined) return
    this.#blocked = this.#blocked.filter((one) => one !== waiting)
    this.#postponed = this.#postponed.filter((one) => one !== waiting)
    if (blocked !== undefined) {
      await this.#sessions.monitor.rows(["select pg_cancel_backend($1)", [session.pid]])
      await blocked.answer
    }
    await waiting.done(connectionLost())
  }

  /** Ends the transactions of a node, or all. */
  async abandon(node?: ClientNode): Promise<void> {
    for (const transaction of this.#open.keys()) {
      if (node === undefined || transaction.node === node) await transaction.abort()
    }
  }

  /** The answer to a statement. Undefined if it waits for a lock from now on. */
  async #answer(waiting: Waiting, before: ReadonlyArray<Statement> = []): Promise<Answer | undefined> {
    if (this.#blocked.length === 0) return await this.#block(waiting, before)
    const answer = await this.#withoutWaiting(waiting, before)
    if (answer === undefined) this.#postponed = [...this.#postponed, waiting]
    return answer
  }

  /** Runs a statement, which may wait in PostgreSQL. */
  async #block(waiting: Waiting, before: ReadonlyArray<Statement> = []): Promise<Answer | undefined> {
    const answer = waiting.session.send(...before, waiting.statement)
    const blocked: Blocked = { ...waiting, answer, isSettled: false }
    void blocked.answer.then(() => {
      blocked.isSettled = true
    })
    if (this.#open.size === 0 || await this.#settles(blocked)) return await answer
    this.#blocked = [...this.#blocked, blocked]
    return undefined
  }

  /** Runs a statement with a time limit for locks. Undefined if it would have to wait; then it has done nothing. */
  async #withoutWaiting(
    { session, statement }: Waiting,
    before: ReadonlyArray<Statement>
  ): Promise<Answer | undefined> {
    await session.send(...before, ["set lock_timeout = '1ms'"])
    // A statement about savepoints waits for no lock.
    const needsSavepoint = [...this.#open.values()].includes(session) &&
      !/^(savepoint|release|rollback)/i.test(statement[0])
    if (needsSavepoint) await session.send(["savepoint postponed"])
    const answer = await session.send(statement)
    const isPostponed = isLockTimeout(answer)
    if (needsSavepoint && isPostponed) await session.send(["rollback to savepoint postponed"])
    if (needsSavepoint && (isPostponed || Exit.isSuccess(answer))) await session.send(["release savepoint postponed"])
    await session.send(["set lock_timeout = 0"])
    return isPostponed ? undefined : answer
  }

  /** Goes on with statements that have got their lock. */
  async #resume(): Promise<void> {
    const settled: Array<readonly [Waiting, Answer]> = []
    for (const blocked of this.#blocked) {
      if (await this.#settles(blocked)) settled.push([blocked, await blocked.answer])
    }
    this.#blocked = this.#blocked.filter(({ isSettled }) => !isSettled)
    const postponed = this.#postponed
    this.#postponed = []
    for (const waiting of postponed) {
      const answer = await this.#answer(waiting)
      if (answer !== undefined) settled.push([waiting, answer])
    }
    for (const [{ done }, answer] of settled) await done(answer)
  }

  /** If all transactions wait for each other, the one that began to wait last fails, as PostgreSQL decides. */
  async #resolveDeadlock(): Promise<void> {
    const waiting = [...this.#blocked, ...this.#postponed]
    const sessions = [...this.#open.values()]
    if (sessions.length < 2 || sessions.some((session) => !waiting.some((one) => one.session === session))) return
    for (const last of this.#postponed.filter(({ session }) => sessions.includes(session)).toReversed()) {
      this.#postponed = this.#postponed.filter((one) => one !== last)
      // The others have looked for deadlocks before it does.
      await pause(5 * deadlockTimeoutMillis)
      const answer = await this.#block(last)
      if (answer !== undefined) return await last.done(answer)
      for (let waited = 0; waited < 15 * deadlockTimeoutMillis; waited += lockCheckMillis) {
        if (this.#blocked.some(({ isSettled }) => isSettled)) return await this.#resume()
        await pause(lockCheckMillis)
      }
    }
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
