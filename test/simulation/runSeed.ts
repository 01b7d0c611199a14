import type { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, type Scope } from "effect"
import type { SqlClient } from "effect/sql"
import type { Database } from "../../src/platform/database/Database.ts"
import { Cluster, type Faults } from "./Cluster.ts"
import { judge, type QueueRows, rowsIn } from "./ledger.ts"
import { Receiver } from "./Receiver.ts"
import type { Sessions, Statement } from "./Sessions.ts"
import { SimulatedServer } from "./SimulatedServer.ts"
import * as SimulatedSql from "./SimulatedSql.ts"
import { Simulation } from "./Simulation.ts"
import type { VirtualNode } from "./VirtualNode.ts"

type Client = Database | PgClient.PgClient | SqlClient.SqlClient

/** What a node of the simulation sends. */
interface Sender {
  /** What a commit on the node does. */
  readonly wake: Effect.Effect<void, unknown, Client>
  /** What the owner of the shard runs until it loses it. */
  readonly owned?: Effect.Effect<unknown, unknown, Client>
}

/** A kind of work: how it is accepted, how a node sends it, and how to read its rows. */
export interface Workload {
  readonly name: string
  /** The tables that a run begins without. */
  readonly tables: ReadonlyArray<string>
  /** Statements of a run before its beginning. */
  readonly setup?: ReadonlyArray<string>
  readonly rows: QueueRows
  readonly faults?: Faults
  /** Accepts some items. */
  readonly accept: (simulation: Simulation) => Statement
  /** Starts the senders of a node. */
  readonly start: (
    node: VirtualNode,
    receiver: Receiver
  ) => Effect.Effect<Sender, unknown, Scope.Scope | Client>
}

export interface Run {
  readonly trace: ReadonlyArray<string>
  readonly violations: ReadonlyArray<string>
}

/** The virtual time in which every item must end, in milliseconds. A mail may wait for an hour before an attempt. */
const timeLimit = 2 * 3_600_000

/** The program of a node, until it is interrupted. */
const programOf = (start: Workload["start"], node: VirtualNode, receiver: Receiver) =>
  Effect.scoped(Effect.gen(function*() {
    const { owned = Effect.never, wake } = yield* start(node, receiver)
    const context = yield* Effect.context<Client>()
    const run = Effect.runForkWith(context)
    const owning = new Set<Fiber.Fiber<unknown, unknown>>()
    node.control({
      wake: () => void run(wake),
      own: () => {
        const fiber = run(owned)
        owning.add(fiber)
        return () => fiber.interruptUnsafe()
      }
    })
    // The scope closes after this, as the services of a node close after its actors.
    return yield* Effect.ensuring(Effect.never, Effect.suspend(() => Fiber.interruptAll(owning)))
  }))

/** Plans the acceptance of items in the first seconds, each with no, one or two wake-ups. */
const planWork = (simulation: Simulation, accept: () => Promise<void>, wake: () => void) => {
  const { draw } = simulation
  for (let left = draw.between(2, 4); left > 0; left--) {
    simulation.plan({
      after: draw.between(0, 6_000),
      run: async () => {
        await accept()
        for (let wakes = draw.between(0, 2); wakes > 0; wakes--) {
          simulation.plan({ after: draw.between(0, 50), run: wake })
        }
      }
    })
  }
}

/** Runs one seed on the database, and judges it. */
export const runSeed = async (workload: Workload, sessions: Sessions, seed: number): Promise<Run> => {
  const { accept, rows, setup = [], start, tables } = workload
  const { monitor } = sessions
  await monitor.rows([
    `truncate simulation.history, simulation.published, ${tables.join(", ")} restart identity cascade`
  ])
  for (const statement of setup) await monitor.rows([statement])
  const simulation = new Simulation(seed)
  const server = new SimulatedServer(simulation, sessions)
  const receiver = new Receiver(simulation, (node) => cluster.strike(node, true))
  const cluster: Cluster = new Cluster(simulation, {
    places: 2,
    faults: workload.faults,
    abandon: (node) => server.abandon(node),
    program: (node) =>
      programOf(start, node, receiver).pipe(
        Effect.provide(SimulatedSql.layer(server, node, cluster)),
        Effect.tapCause((cause) => Effect.sync(() => simulation.note(`${node.name} ends: ${cause}`))),
        Effect.exit
      )
  })
  cluster.start()
  planWork(simulation, async () => {
    simulation.note("the client sends")
    await server.executeNow("client", accept(simulation))
  }, () => {
    const { running } = cluster
    if (running.length > 0) simulation.draw.pick(running.map((node) => [1, node] as const)).wake()
  })

  let hasEnded = false
  const check = (): void => {
    simulation.plan({
      after: 1_000,
      run: async () => {
        const isDone = cluster.isCalm && receiver.isIdle && (await rowsIn(monitor, rows)).every(rows.isFinal)
        hasEnded = isDone || simulation.elapsed > timeLimit
        if (!hasEnded) check()
      }
    })
  }
  check()
  await simulation.run(() => hasEnded)
  for (const node of cluster.running) node.die("ends")
  await server.abandon()
  const violations = await judge(rows, monitor, { receiver, nodes: cluster.nodes })
  return { trace: simulation.trace, violations }
}
