/**
 * Finds out at once when the process of another node has died. The cluster's own way is to wait until a node has not
 * written for `shardLockExpiration`; but the machine of a dead process refuses connections to its port. Each node looks
 * after the next ones in the order of their addresses, as in a ring, and takes a dead one out of the table of nodes, as
 * that one would have done had it left. Who runs what is still decided by the locks alone, which PostgreSQL keeps as long
 * as a node's connection lives: a mistake here moves nothing, and the node enters itself again. A node that is frozen, or
 * whose machine is gone, refuses nothing, and is found out by its silence.
 */
import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import * as NodeNet from "node:net"

/** How many others each node looks after. */
const watched = 3

/** A node that is just starting or leaving may refuse once. */
const refusals = 2

const Address = Schema.Struct({ address: Schema.String })

/** Whether nobody listens there. Silence is no refusal. */
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

/** `look` looks after the neighbours of a node once; it remembers how often each has refused. */
export const makeWatch = Effect.fnUntraced(function*(self: string) {
  const sql = yield* SqlClient.SqlClient
  let refused = new Map<string, number>()

  const others = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Address,
    execute: () =>
      sql`select address from cluster_runners where address <> ${self}
        order by address < ${self}, address limit ${watched}`
  })

  const look = Effect.gen(function*() {
    const before = refused
    refused = new Map()
    yield* Effect.forEach(
      yield* others(),
      Effect.fnUntraced(function*({ address }) {
        if (!(yield* refuses(address))) return
        const times = (before.get(address) ?? 0) + 1
        refused.set(address, times)
        if (times < refusals) return
        yield* sql`delete from cluster_runners where address = ${address}`
        yield* Effect.logInfo(`the node at ${address} is gone: its work moves`)
      }),
      { concurrency: "unbounded", discard: true }
    )
  })

  return { look }
})

/** Looks after this node's neighbours twice a second. */
export const neighbours = (self: string) =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { look } = yield* makeWatch(self)
    yield* look.pipe(
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("500 millis")),
      Effect.forkScoped
    )
  }))
