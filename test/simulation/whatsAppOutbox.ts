import { Effect, Layer, Option, Schedule } from "effect"
import { OutboxSender } from "../../src/channels/whatsapp/outbox/OutboxSender.ts"
import { OutboxSenders } from "../../src/channels/whatsapp/outbox/OutboxSenders.ts"
import { OutboxStatusUpdates } from "../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import { SessionRowRepo } from "../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import { ReceivedMessages } from "../../src/channels/whatsapp/socket/MessageTraffic.ts"
import { PublicDownload } from "../../src/platform/net/PublicDownload.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { WhatsAppSessionId } from "../../src/values/Ids.ts"
import { unaskedSocket } from "../support/unaskedSocket.ts"
import type { Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Keys, RecordedEvents, Settings } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const id = WhatsAppSessionId.make(1)

const itemOf = (message: unknown) => `message ${message}`

/** WhatsApp does not refuse an id that it has accepted before. */
const verdicts = [[9, "accepted"], [1, "lost"]] as const

const Services = Layer.mergeAll(OutboxSender.layer, SessionRowRepo.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(OutboxSenders.layer, OutboxStatusUpdates.layer.pipe(Layer.provide(Usage.layer)))),
  Layer.provide(Layer.mergeAll(
    Keys,
    RecordedEvents,
    Settings,
    Layer.mock(PublicDownload)({}),
    Layer.mock(ReceivedMessages)({})
  ))
)

/** The connection of a session: each message is acknowledged once it is accepted. */
const connect = Effect.fnUntraced(function*(node: VirtualNode, { receive }: Receiver) {
  const { attach } = yield* OutboxSender
  const claimed = yield* (yield* SessionRowRepo).claim(id)
  if (Option.isNone(claimed)) return
  const { epoch } = claimed.value
  const scope = yield* Effect.scope
  const { onOpened, onStanza } = yield* attach({ id, epoch })

  const send = (name: string, isHeld: () => boolean) =>
    Effect.map(
      receive({ node, item: itemOf(name), claim: epoch, lease: { begin: isHeld, isHeld }, verdicts }),
      (verdict) => {
        if (verdict === "accepted") onStanza("ack", { tag: "ack", attrs: { id: name } })
      }
    )

  yield* onOpened({
    ...unaskedSocket,
    chatOf: (number) => Effect.succeed(`${number}@s.whatsapp.net`),
    compose: () => Effect.succeed(new Uint8Array()),
    relay: (page, isHeld) =>
      Effect.as(
        Effect.forEach(page, ({ id: name }) => Effect.forkIn(send(name, isHeld), scope), { discard: true }),
        []
      )
  })
})

/** The outbox of a WhatsApp session, which the owner of its shard connects. The epoch is its fence. */
export const whatsAppOutbox: Workload = {
  name: "WhatsApp messages",
  tables: ["whatsapp_outbox", "messages", "whatsapp_sessions", "whatsapp_message_counts"],
  setup: [`insert into whatsapp_sessions (account_id, session_key, name, data_key, is_paired, status, is_confirmed)
    values (1, 'wa_1', 'Test', '', true, 'connected', true)`],
  rows: {
    relation: "whatsapp_outbox",
    all: "select to_jsonb(o) as row from whatsapp_outbox o",
    itemOf: ({ whatsapp_id }) => itemOf(whatsapp_id),
    claimOf: () => undefined,
    mayReclaim: () => true,
    epochs: {
      relation: "whatsapp_sessions",
      isFenced: ({ after }) => after?.["status"] !== "sent" && after?.["status"] !== "failed",
      leaseTime: 8_000
    },
    isFinal: ({ status }) => status === "sent" || status === "failed",
    isSent: ({ status }) => status === "sent"
  },
  accept: ({ draw }) => [
    `with added as (
        insert into messages (account_id, channel, session_id, direction, recipient, content)
        select 1, 'whatsapp', 1, 'out', '+15550100300', '{"body": "Hello"}' from generate_series(1, $1::integer)
        returning id
      )
      insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane) select id, 1, 'WA' || id, 0 from added`,
    [draw.between(1, 3)]
  ],
  start: (node, receiver) =>
    Effect.map(Layer.build(Services), (services) => ({
      wake: Effect.void,
      owned: Effect.scoped(Effect.andThen(connect(node, receiver), Effect.never)).pipe(
        Effect.sandbox,
        Effect.retry({ schedule: Schedule.spaced("1 second") }),
        Effect.provide(services)
      )
    }))
}
