import { assert } from "@effect/vitest"
import { Effect, Option, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { asking } from "../support/bulkMail.ts"
import { eventually, type NodeOptions, type RunningNode, startNode } from "../support/Service.ts"
import { type SignedEvent, signedEvent } from "../support/signedEvent.ts"
import type { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import type { WebhookReceiver } from "../support/WebhookReceiver.ts"
import type { SinkMessage } from "./SinkProcess.ts"

/** Recipients that a node claims at once for a batch: twice `SMTP_CONNECTIONS`, see BatchActor. */
const claimSize = 16

export const between = (least: number, most: number) => NodeCrypto.randomInt(least, most + 1)

/** Waits a random number of milliseconds, so that the fault strikes in the middle of the work. */
export const randomPause = (least: number, most: number) =>
  Effect.suspend(() => {
    const pause = between(least, most)
    return Effect.as(Effect.sleep(pause), pause)
  })

/** Shards of the whole cluster, see Cluster. */
const shards = 48

/** Milliseconds since the epoch, comparable with timestamps in the nodes' logs. */
export const now = Effect.sync(() => performance.timeOrigin + performance.now())

const Line = Schema.fromJsonString(Schema.Struct({ timestamp: Schema.String }))

/** One or several texts that a log line contains. */
type LogPattern = string | ReadonlyArray<string>

/** When a node last logged this; undefined if it never did. */
const lastLogged = (node: RunningNode, said: LogPattern) => {
  const texts = [said].flat()
  const last = node.logs.findLast((line) => texts.every((text) => line.includes(text)))
  return Option.getOrUndefined(Schema.decodeOption(Line)(last ?? ""))?.timestamp
}

/** Numbers of shards held by each node that holds any, read from the cluster's locks. */
const shardsHeld = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select count(*) as held from pg_locks
    where locktype = 'advisory' and objsubid = 2 and granted
      and database = (select oid from pg_database where datname = current_database())
    group by pid`
  return rows.map((row) => Number(row["held"]))
}).pipe(Effect.orDie)

const isBalanced = (held: ReadonlyArray<number>, nodes: number) =>
  held.length === nodes && held.reduce((sum, count) => sum + count, 0) === shards
  && Math.max(...held) - Math.min(...held) <= 1

/**
 * Nodes on one database that start and stop; `start` also replaces a dead one. The nth node started gets the nth `own`
 * environment.
 */
export const makeCluster = (options: NodeOptions, own: ReadonlyArray<NonNullable<NodeOptions["env"]>> = []) => {
  let begun = 0
  let nodes: ReadonlyArray<RunningNode> = []
  /** Dead nodes too, because their last log lines count for `ownerOf`. */
  let all: ReadonlyArray<RunningNode> = []
  /** Waits until the node has its share of shards, because an actor that moves during a fault would hide its effect. */
  const start: Effect.Effect<RunningNode, never, TestDatabase | SqlClient.SqlClient | Scope.Scope> = Effect.gen(
    function*() {
      // All nodes build the same links, so that a repeated message has the same bytes.
      const env = { LOG_LEVEL: "debug", PUBLIC_URL: "https://messages.example" }
      const node = yield* startNode({ ...options, env: { ...env, ...options.env, ...own[begun++] } })
      nodes = [...nodes, node]
      all = [...all, node]
      yield* eventually(shardsHeld, (held) => isBalanced(held, nodes.length), longer.takeover)
      return node
    }
  )
  /**
   * The living node that was the last to log this, and when; the owner of an actor logs it at the start. Waits while the
   * last one is dead or logged it before `since`.
   */
  const ownerOf = Effect.fnUntraced(function*(said: LogPattern, since = 0) {
    const found = Effect.sync(() => {
      const times = all.map((node) => ({ node, at: Date.parse(lastLogged(node, said) ?? "") }))
      const last = times.filter(({ at }) => at > since).toSorted((a, b) => b.at - a.at)[0]
      return last !== undefined && nodes.includes(last.node) ? last : undefined
    })
    const owner = yield* eventually(found, (last) => last !== undefined, longer.takeover)
    return owner ?? (yield* Effect.die("a wait has ended without an owner"))
  })
  /** Kills a node and returns the time. */
  const kill = Effect.fnUntraced(function*(gone: RunningNode) {
    nodes = nodes.filter((node) => node !== gone)
    yield* gone.kill
    return yield* now
  })
  /** Stops a node as an operator does, and waits until it has exited. */
  const stop = Effect.fnUntraced(function*(gone: RunningNode) {
    nodes = nodes.filter((node) => node !== gone)
    return yield* gone.stop()
  })
  /** A living node. */
  const any = (index: number): RunningNode => {
    const node = nodes[index % nodes.length]
    if (node === undefined) throw new Error("no node lives")
    return node
  }
  return { start, ownerOf, kill, stop, any }
}

/** Log patterns of a node that runs a batch, drains a webhook, has a session's connection, or sends the notices. */
export const runsBatch = (id: string) => `"batch":"${id}"`
export const drainsWebhook = (id: number) => `"webhook":${id}}`
export const hasSession = (id: number) => ["WhatsApp session connected", `"session":${id}}`]
export const sendsNotices = "sending notices on this node"

/** Batch recipients that a node which just died may or may not have sent to. */
export const inDoubt = Effect.fnUntraced(function*(batch: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select recipient from email_messages where batch_id = ${batch} and status = 'sending'`
  return rows.map((row) => String(row["recipient"]))
})

/** Single email recipients that some node may or may not have sent to. */
export const emailsInDoubt = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select recipient from email_messages where batch_id is null and status = 'sending'`
  return rows.map((row) => String(row["recipient"]))
})

/** Checks that no recipient is lost and only those in doubt got a second copy, with the same Message-ID and bytes. */
export const checkLedger = (
  messages: ReadonlyArray<SinkMessage>,
  expected: {
    readonly recipients: ReadonlyArray<string>
    readonly doubtful: ReadonlyArray<string>
    /** Claims that a node holds at once: each batch has one, and single mail another. */
    readonly claims?: number
  }
) => {
  const copies = new Map<string, Array<SinkMessage>>()
  for (const message of messages) {
    for (const address of message.to) copies.set(address, [...copies.get(address) ?? [], message])
  }
  const lost = expected.recipients.filter((address) => !copies.has(address))
  const twice = expected.recipients.filter((address) => (copies.get(address)?.length ?? 0) > 1)
  assert.deepStrictEqual(lost, [], "recipients were lost")
  assert.deepStrictEqual(
    twice.filter((address) => !expected.doubtful.includes(address)),
    [],
    "not in flight, but twice"
  )
  for (const address of twice) {
    const same = copies.get(address) ?? []
    assert.strictEqual(new Set(same.map(({ message_id }) => message_id)).size, 1, `Message-IDs of ${address}`)
    assert.strictEqual(new Set(same.map(({ sha256 }) => sha256)).size, 1, `bytes for ${address}`)
    assert.strictEqual(same.length, 2, `copies for ${address}`)
  }
  assert.isAtMost(twice.length, claimSize * (expected.claims ?? 1))
  return twice.length
}

/** Recipients whose mail the sink answers after up to 50 ms. */
export const slowPeople = (count: number, round: string) =>
  Array.from({ length: count }, (_, index) => `slow-${round}-${index}@people.example`)

const mail = { subject: "Hello {{n}}", html: "<p>Hello {{n}}</p>" }

/** A bulk email to these recipients, with a number for each. */
export const letter = (recipients: ReadonlyArray<string>) => ({
  ...mail,
  recipients: recipients.map((to, n) => ({ to, variables: { n } }))
})

export const listen = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const { at } = yield* node.request("POST", "/v1/webhooks", { key, json })
  return { id: Number(at("data", "id")), secret: String(at("data", "secret")) }
})

/** Waits for a batch's completion event and checks that it is a single event. */
export const completionOf = Effect.fnUntraced(function*(receiver: WebhookReceiver, secret: string, batch: string) {
  const ids = () => {
    const events = receiver.requests.map((request) => signedEvent(request, secret))
    const ends = events.filter(({ data, event }) => event === "email.bulk_completed" && data["batch_id"] === batch)
    return new Set(ends.map(({ id }) => id))
  }
  for (let count = 1; ids().size === 0; count++) yield* receiver.received(count, longer.takeover)
  assert.strictEqual(ids().size, 1, "email.bulk_completed is one event")
})

/** Waits until `count` deliveries have succeeded, checks that repeats are identical, and returns events and repeats. */
export const settled = Effect.fnUntraced(function*(
  receiver: WebhookReceiver,
  { count, id, key, node, secret }: {
    readonly secret: string
    readonly node: RunningNode
    readonly key: string
    readonly id: number
    readonly count: number
  }
) {
  yield* asking(
    node.request("GET", `/v1/webhooks/${id}/deliveries?status=delivered&per_page=1`, { key }),
    ({ at }) => at("meta", "total") === count
  )
  const bodies = new Map<string, string>()
  const events = new Map<string, SignedEvent>()
  for (const request of receiver.requests) {
    const event = signedEvent(request, secret)
    const body = request.body.toString()
    assert.strictEqual(bodies.get(event.id) ?? body, body, "one event, one body")
    bodies.set(event.id, body)
    events.set(event.id, event)
  }
  return { events: [...events.values()], twice: receiver.requests.length - events.size }
})
