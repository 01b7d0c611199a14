import { Deferred, Effect, Layer, Schedule } from "effect"
import { CredentialStore } from "../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { InboundTraffic } from "../../src/channels/whatsapp/inbox/InboundTraffic.ts"
import { Inbox } from "../../src/channels/whatsapp/inbox/Inbox.ts"
import { OutboxSender } from "../../src/channels/whatsapp/outbox/OutboxSender.ts"
import { OutboxSenders } from "../../src/channels/whatsapp/outbox/OutboxSenders.ts"
import { OutboxStatusUpdates } from "../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import * as SessionConnection from "../../src/channels/whatsapp/sessions/SessionConnection.ts"
import * as SessionRow from "../../src/channels/whatsapp/sessions/SessionRow.ts"
import { SessionRowRepo } from "../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import { LiveSockets } from "../../src/channels/whatsapp/socket/LiveSockets.ts"
import { MessageTraffic } from "../../src/channels/whatsapp/socket/MessageTraffic.ts"
import { PublicDownload } from "../../src/platform/net/PublicDownload.ts"
import { Usage } from "../../src/usage/Usage.ts"
import type { Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Keys, RecordedEvents, Settings, vaultOf } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"
import { messageOf, sessionId, whatsAppSocket } from "./whatsAppSocket.ts"

const Traffic = Layer.effect(
  MessageTraffic,
  Effect.gen(function*() {
    return MessageTraffic.join(yield* InboundTraffic, yield* OutboxSender)
  })
).pipe(Layer.provide([InboundTraffic.layer, OutboxSender.layer]))

/** Opens credentials, and tells the receiver. */
const credentialStore = (node: VirtualNode, { logIn }: Receiver) =>
  Layer.effect(
    CredentialStore,
    Effect.map(CredentialStore, ({ open }) =>
      CredentialStore.of({ open: (owned) => logIn({ node, epoch: owned.epoch }, open(owned)) }))
  ).pipe(Layer.provide(CredentialStore.layer))

const servicesOf = (node: VirtualNode, receiver: Receiver) =>
  Layer.mergeAll(
    credentialStore(node, receiver).pipe(Layer.provide(Inbox.layerJournal)),
    SessionRowRepo.layer,
    Traffic,
    whatsAppSocket(node, receiver)
  ).pipe(
    Layer.provide(Layer.mergeAll(Inbox.layer, Inbox.layerReceived, LiveSockets.layer, OutboxSenders.layer)),
    Layer.provide(OutboxStatusUpdates.layer.pipe(Layer.provide(Usage.layer))),
    Layer.provideMerge(Layer.mergeAll(
      Keys,
      RecordedEvents,
      Settings,
      vaultOf(Buffer.alloc(32, 7)),
      Layer.mock(PublicDownload)({})
    ))
  )

/** In milliseconds. */
const times = {
  /** Until a connection is asked to end, so that another one follows at once. */
  renewal: [[1, 500, 8_000], [2, 60_000, 90_000]],
  /** Between two codes to scan. */
  code: [[1, 500, 5_000], [1, 30_000, 60_000]]
} as const

/**
 * The connections of the session, one after the other, as in `SessionSupervisor`, whose pauses would not replay. After the
 * session was taken away it claims again, which the supervisor leaves to the next wake-up. Codes to scan come without a
 * connection that asks for them, whose pictures would not replay.
 */
const ownedBy = (node: VirtualNode, { answer }: Receiver) =>
  Effect.scoped(Effect.gen(function*() {
    const connect = yield* SessionConnection.make
    const row = yield* (yield* SessionRow.make)(sessionId)
    if (row === undefined) return
    const codes = Effect.forever(Effect.andThen(answer(node, times.code), row.publishCode("code")))
    while (true) {
      const renew = yield* Deferred.make<void>()
      const renewal = Effect.andThen(answer(node, times.renewal), Deferred.succeed(renew, undefined))
      const connection = connect({ row, renew, show: () => Effect.void, share: () => Effect.void })
      const cause = yield* Effect.raceAllFirst([connection, codes, Effect.andThen(renewal, Effect.never)])
      if (cause === "renew") continue
      yield* row.apply({ _tag: "Closed", cause })
      yield* Effect.sleep("1 second")
    }
  }))

/** A WhatsApp session, which the owner of its shard connects. The epoch is its fence. */
export const whatsApp: Workload = {
  name: "WhatsApp session",
  tables: ["whatsapp_outbox", "messages", "whatsapp_sessions", "whatsapp_files", "whatsapp_message_counts"],
  setup: [`insert into whatsapp_sessions (account_id, session_key, name, data_key, is_paired, status, is_confirmed)
    values (1, 'wa_1', 'Test', '', true, 'connected', true)`],
  faults: {
    mix: { crash: 1, freeze: 8, cut: 1, stop: 1, clock: 1, unlock: 8, outage: 0 },
    until: 80_000,
    most: 20,
    // The next owner begins to send about 16 seconds after a freeze begins, and leases have ended four seconds later.
    freezes: [[1, 200, 4_000], [2, 12_500, 18_000], [3, 18_000, 28_000]],
    pauses: [[1, 0, 0], [2, 3_000, 9_000]],
    busyChances: [[1, 0.05], [1, 0.2]],
    // A node renews its locks every four seconds.
    thawedFor: 3_000
  },
  rows: {
    relation: "whatsapp_outbox",
    all: `select to_jsonb(o) as row from whatsapp_outbox o union all select to_jsonb(i) as row from whatsapp_inbox i`,
    itemOf: ({ whatsapp_id }) => messageOf(whatsapp_id),
    claimOf: () => undefined,
    mayReclaim: () => true,
    epochs: {
      relation: "whatsapp_sessions",
      others: ["whatsapp_keys", "whatsapp_inbox", "whatsapp_contacts", "published"],
      // WhatsApp may acknowledge a message of a former owner.
      isFenced: ({ after }) => after?.["status"] !== "sent" && after?.["event"] !== "message.sent"
    },
    leaseTime: 8_000,
    isFinal: ({ done_at, status }) => status === "sent" || status === "failed" || typeof done_at === "string",
    isSent: ({ status }) => status === "sent"
  },
  // They become due one after the other, so that some are prepared at each time of the faults.
  accept: ({ draw, elapsed }) => [
    `with file as (
        insert into whatsapp_files (account_id, content) values (1, 'x') returning id
      ), added as (
        insert into messages (account_id, channel, session_id, direction, recipient, type, content)
        select 1, 'whatsapp', 1, 'out', '+1555' || 1000000 + $1::integer + n, case $3 when n then 'image' else 'text' end,
          '{"body": "Hello"}'
        from generate_series(1, $2::integer) n returning id, type
      )
      insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, file_id, due_at)
      select added.id, 1, 'WA' || added.id, 0, case added.type when 'image' then file.id end,
        now() + $4::integer * interval '1 millisecond' * row_number() over (order by added.id) from added, file`,
    [elapsed, draw.between(2, 6), draw.between(1, 3), draw.between(0, 12_000)]
  ],
  start: (node, receiver) =>
    Effect.map(Layer.build(servicesOf(node, receiver)), (services) => ({
      wake: Effect.void,
      owned: ownedBy(node, receiver).pipe(
        Effect.sandbox,
        Effect.retry({ schedule: Schedule.spaced("1 second") }),
        Effect.provide(services)
      )
    }))
}
