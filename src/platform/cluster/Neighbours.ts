/**
 * Detects a dead process of another node at once. The cluster library alone waits until a node has not written for
 * `shardLockExpiration`, but the machine of a dead process refuses connections to its port. Each node checks the next
 * nodes in the order of their addresses, as in a ring. It deletes a dead node from the table of nodes, as that node does
 * itself when it shuts down.
 *
 * A mistake here moves no actor: the locks alone decide which node runs an actor, PostgreSQL keeps them while a node's
 * connection lives, and a deleted live node registers again. A frozen node or a lost machine refuses no connection; the
 * library detects it by its silence.
 */
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeNet from "node:net"
import * as Query from "../database/Query.ts"

/** How many nodes each node checks. */
const checkedNodes = 3

/** A node that is starting or shutting down may refuse once. */
const maxRefusals = 2

const Address = Schema.Struct({ address: Schema.String })

/** Whether the address refuses a connection; silence is not a refusal. */
const refuses = (address: string) =>
  Effect.callback<boolean>((resume) => {
    const at = address.lastIndexOf(":")
    const socket = NodeNet.connect({ host: address.slice(0, at), port: Number(address.slice(at + 1)), timeout: 1_000 })
    const end = (refused: boolean) => {
      socket.destroy()
      resume(Effect.succeed(refused))
    }
    socket.once("connect", () => end(false))
    socket.once("timeout", () => end(false))
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code === "ECONNREFUSED"))
    return Effect.sync(() => socket.destroy())
  })

/** `check` checks a node's neighbours once. It remembers how often each one refused in a row. */
export const make = Effect.fnUntraced(function*(self: string) {
  const sql = yield* SqlClient.SqlClient
  let refused = new Map<string, number>()

  const findNeighbours = Query.findAll({
    Request: Schema.Void,
    Result: Address,
    execute: () =>
      sql`select address from cluster_runners where address <> ${self}
        order by address < ${self}, address limit ${checkedNodes}`
  })

  const check = Effect.gen(function*() {
    const before = refused
    refused = new Map()
    yield* Effect.forEach(
      yield* findNeighbours(),
      Effect.fnUntraced(function*({ address }) {
        if (!(yield* refuses(address))) return
        const times = (before.get(address) ?? 0) + 1
        refused.set(address, times)
        if (times < maxRefusals) return
        yield* Query.run(sql`delete from cluster_runners where address = ${address}`)
        yield* Effect.logInfo("node is gone, its shards move").pipe(Effect.annotateLogs({ address }))
      }),
      { concurrency: "unbounded", discard: true }
    )
  })

  return { check }
})

/** Checks this node's neighbours twice a second. */
export const layer = (self: string) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { check } = yield* make(self)
    yield* check.pipe(
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("500 millis")),
      Effect.forkScoped
    )
  }))
