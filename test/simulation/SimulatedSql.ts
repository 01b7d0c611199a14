import { PgClient, type PgConnection } from "@effect/sql-pg"
import { Effect, Exit, Layer, Stream } from "effect"
import { SqlClient, type SqlConnection, type SqlError, Statement } from "effect/sql"
import { Database } from "../../src/platform/database/Database.ts"
import type { Answer } from "./Sessions.ts"
import { connectionLost, type Done, type SimulatedServer, Transaction } from "./SimulatedServer.ts"
import { maxLatency, type VirtualNode } from "./VirtualNode.ts"

/** Draws faults. */
export interface Striking {
  /** May crash or freeze the node at this point. Returns true if its connection to the database is cut. */
  readonly strike: (node: VirtualNode, isBusy: boolean) => Promise<boolean>
  /** Whether the database is away for all nodes. */
  readonly isAway: boolean
}

type Run = (done: Done) => Promise<void>

/** The first words of a statement, for the trace. */
const nameOf = (sql: string) => sql.replaceAll(/\s+/g, " ").trim().slice(0, 80)

const rowsOf = (answer: Answer) => Exit.isSuccess(answer) ? answer.value.rows.length : 0

/** The time that a message takes between a node and the database, in milliseconds. */
const latencies = [[80, 1, 3], [15, 3, 40], [4, 40, 400], [1, 400, maxLatency]] as const

/** Runs a node's statements as events of the simulation. */
const makeExecute = (server: SimulatedServer, node: VirtualNode, faults: Striking) => {
  const { simulation } = server
  const latency = () => simulation.draw.within(latencies)
  return (name: string, run: Run, abort: () => Promise<void>) =>
    Effect.callback<PgConnection.Result, SqlError.SqlError>((resume) => {
      const deliver = (answer: Answer) => {
        simulation.plan({ after: latency(), on: node, run: () => resume(answer) })
      }
      const cut = async () => {
        await abort()
        deliver(connectionLost())
      }
      return Effect.sync(simulation.plan({
        after: latency(),
        run: async () => {
          if (node.isDead) return
          if (faults.isAway || await faults.strike(node, false)) return await cut()
          if (node.isDead) return
          simulation.note(`${node.name} ${name}`)
          await run(async (answer) => {
            simulation.note(`  ${answer._tag} ${rowsOf(answer)}`)
            if (await faults.strike(node, rowsOf(answer) > 0)) await cut()
            else deliver(answer)
          })
        }
      }))
    })
}

type Execute = ReturnType<typeof makeExecute>

const connectionOf = (
  run: (sql: string, values: ReadonlyArray<unknown>) => Effect.Effect<PgConnection.Result, SqlError.SqlError>
): SqlConnection.Connection => {
  const rows = (sql: string, values: ReadonlyArray<unknown>) => Effect.map(run(sql, values), ({ rows }) => rows)
  const lists = (sql: string, values: ReadonlyArray<unknown>) =>
    Effect.map(rows(sql, values), (all) => all.map((row) => Object.values(row)))
  return {
    execute: rows,
    executeRaw: run,
    executeUnprepared: rows,
    executeValues: lists,
    executeValuesUnprepared: lists,
    executeStream: () => Stream.die(new Error("the simulation has no streams"))
  }
}

const unsupported = Effect.die(new Error("the simulation has no notifications"))

const json = Statement.custom<PgClient.PgCustom>("PgJson")

const never = () => Promise.resolve()

const makeTransaction = (server: SimulatedServer, node: VirtualNode, execute: Execute) => {
  const transaction = new Transaction(server, node)
  return connectionOf((sql, values) => {
    if (sql === "BEGIN") return Effect.succeed({ command: sql, rowCount: 0, oid: null, rows: [], fields: [] })
    const ends = sql === "COMMIT" || sql === "ROLLBACK"
    return execute(
      nameOf(sql),
      (done) => ends ? transaction.end(sql, done) : transaction.execute(sql, values, done),
      () => transaction.abort()
    )
  })
}

/** The client of a node, with which its repositories run their SQL. */
export const layer = (server: SimulatedServer, node: VirtualNode, faults: Striking) => {
  const execute = makeExecute(server, node, faults)
  const single = connectionOf((sql, values) =>
    execute(nameOf(sql), (done) => server.execute(node, sql, values, done), never)
  )
  const client = Effect.gen(function*() {
    const sql = yield* SqlClient.make({
      acquirer: Effect.succeed(single),
      transactionAcquirer: Effect.sync(() => makeTransaction(server, node, execute)),
      compiler: PgClient.makeCompiler(),
      driver: "pg",
      spanAttributes: [],
      releaseSavepoint: (name) => `RELEASE SAVEPOINT ${name}`
    })
    return Object.assign(sql, {
      [PgClient.TypeId]: PgClient.TypeId,
      config: {},
      json: (value: unknown) => Statement.fragment([json(value)]),
      listen: () => unsupported,
      notify: () => unsupported
    })
  })
  return Database.fromClient.pipe(Layer.provideMerge(PgClient.layerFrom(client)))
}
