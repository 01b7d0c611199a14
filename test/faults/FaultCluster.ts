import { assert } from "@effect/vitest"
import { Effect, Option, Schedule, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeCrypto from "node:crypto"
import { asking } from "../support/bulkMail.ts"
import { eventually, type NodeOptions, type RunningNode, startNode } from "../support/Service.ts"
import { type SignedEvent, signedEvent } from "../support/signedEvent.ts"
import type { TestDatabase } from "../support/TestDatabase.ts"
import type { WebhookReceiver } from "../support/WebhookReceiver.ts"
import type { Taken } from "./SinkProcess.ts"

/** Recipients of one batch that a node sends to at once: `SMTP_CONNECTIONS` times two, see BatchActor. */
const width = 16

export const between = (least: number, most: number) => NodeCrypto.randomInt(least, most + 1)

/** A moment by chance in the middle of the work, where the fault strikes; so many milliseconds from now. */
export const moment = (least: number, most: number) =>
  Effect.suspend(() => {
    const pause = between(least, most)
    return Effect.as(Effect.sleep(pause), pause)
  })

/** Of the whole cluster, see Cluster. */
const shards = 48

/** Milliseconds since the epoch, as the logs of the nodes tell time. */
export const now = Effect.sync(() => performance.timeOrigin + performance.now())

const Line = Schema.fromJsonString(Schema.Struct({ timestamp: Schema.String }))

/** What a line of the log has in it: one text, or several. */
type Said = string | ReadonlyArray<string>

/** When a node logged this for the last time; undefined when it never did. */
const lastLogged = (node: RunningNode, said: Said) => {
  const texts = [said].flat()
  const last = node.logs.findLast((line) => texts.every((text) => line.includes(text)))
  return Option.getOrUndefined(Schema.decodeOption(Line)(last ?? ""))?.timestamp
}

/** How many shards each node that has any holds: the locks by which the cluster tells who runs what. */
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
 * Nodes of one database that come and go; a dead one is replaced by a call of `start`. The nth has its own `env`, if
 * any.
 */
export const makeCluster = (options: NodeOptions, own: ReadonlyArray<NonNullable<NodeOptions["env"]>> = []) => {
  let begun = 0
  let nodes: ReadonlyArray<RunningNode> = []
  /** The dead ones too: what they logged last was said by nobody later. */
  let all: ReadonlyArray<RunningNode> = []
  /** Until the node has its share: an actor that moves while a fault strikes would hide what the fault does. */
  const start: Effect.Effect<RunningNode, never, TestDatabase | SqlClient.SqlClient | Scope.Scope> = Effect.gen(
    function*() {
      // The links in the mails must not tell the nodes apart: a repeated message has the same bytes.
      const env = { LOG_LEVEL: "debug", PUBLIC_URL: "https://messages.example" }
      const node = yield* startNode({ ...options, env: { ...env, ...options.env, ...own[begun++] } })
      nodes = [...nodes, node]
      all = [...all, node]
      yield* eventually(shardsHeld, (held) => isBalanced(held, nodes.length))
      return node
    }
  )
  /**
   * The living node that was the last to log this, and when: whoever runs an actor says so when it begins. Waits for
   * the next one while the last was a node that is dead, or that said so before `since`.
   */
  const ownerOf = (said: Said, since = 0) =>
    Effect.sync(() => {
      const times = all.map((node) => ({ node, at: Date.parse(lastLogged(node, said) ?? "") }))
      const last = times.filter(({ at }) => at > since).toSorted((a, b) => b.at - a.at)[0]
      return last !== undefined && nodes.includes(last.node) ? last : undefined
    }).pipe(
      Effect.repeat({ until: (owner) => owner !== undefined, schedule: Schedule.spaced("10 millis") }),
      Effect.filterOrElse((owner) => owner !== undefined, () => Effect.never)
    )
  /** Kills a node and gives the moment. */
  const kill = Effect.fnUntraced(function*(gone: RunningNode) {
    nodes = nodes.filter((node) => node !== gone)
    yield* gone.kill
    return yield* now
  })
  /** Asks a node to leave, as an operator does, and waits until it is gone. */
  const stop = Effect.fnUntraced(function*(gone: RunningNode) {
    nodes = nodes.filter((node) => node !== gone)
    return yield* gone.stop()
  })
  /** Any node that lives. */
  const any = (index: number): RunningNode => {
    const node = nodes[index % nodes.length]
    if (node === undefined) throw new Error("no node lives")
    return node
  }
  return { start, ownerOf, kill, stop, any }
}

/** How a node says that it runs a batch, drains a webhook, has the connection of a session, or sends the notices. */
export const runsBatch = (id: string) => `"batch":"${id}"`
export const drainsWebhook = (id: number) => `"webhook":${id}}`
export const hasSession = (id: number) => ["a WhatsApp session is connected", `"session":${id}}`]
export const sendsNotices = "notices are sent by this node"

/** The recipients of whom a node that died just now may or may not have written. */
export const inDoubt = Effect.fnUntraced(function*(batch: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select recipient from email_messages where batch_id = ${batch} and status = 'sending'`
  return rows.map((row) => String(row["recipient"]))
})

/** The recipients of emails of their own that some node may or may not have written to. */
export const emailsInDoubt = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select recipient from email_messages where batch_id is null and status = 'sending'`
  return rows.map((row) => String(row["recipient"]))
})

/** Nobody is lost; twice has been written only to those in doubt, and then with the same Message-ID and bytes. */
export const checkLedger = (
  messages: ReadonlyArray<Taken>,
  expected: { readonly recipients: ReadonlyArray<string>; readonly doubtful: ReadonlyArray<string> }
) => {
  const copies = new Map<string, Array<Taken>>()
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
  assert.isAtMost(twice.length, width)
  return twice.length
}

/** Recipients that the sink answers after up to 50 ms each. */
export const slowPeople = (count: number, round: string) =>
  Array.from({ length: count }, (_, index) => `slow-${round}-${index}@people.example`)

const mail = { subject: "Hello {{n}}", html: "<p>Hello {{n}}</p>" }

/** A letter to these people, each with a number of their own in it. */
export const letter = (recipients: ReadonlyArray<string>) => ({
  ...mail,
  recipients: recipients.map((to, n) => ({ to, variables: { n } }))
})

/** Makes a webhook. */
export const listen = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const { at } = yield* node.request("POST", "/v1/webhooks", { key, json })
  return { id: Number(at("data", "id")), secret: String(at("data", "secret")) }
})

/** Waits until the end of a batch was told, and proves that it was told as one event only. */
export const completionOf = Effect.fnUntraced(function*(receiver: WebhookReceiver, secret: string, batch: string) {
  const ids = () => {
    const events = receiver.requests.map((request) => signedEvent(request, secret))
    const ends = events.filter(({ data, event }) => event === "email.bulk_completed" && data["batch_id"] === batch)
    return new Set(ends.map(({ id }) => id))
  }
  for (let count = 1; ids().size === 0; count++) yield* receiver.received(count)
  assert.strictEqual(ids().size, 1, "email.bulk_completed is one event")
})

/** Waits until `count` deliveries of a webhook have succeeded; each event once, and how many came twice. */
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
