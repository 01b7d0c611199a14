import { Duration, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CredentialStore } from "../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { Journal } from "../../../src/channels/whatsapp/credentials/Journal.ts"
import { ContactsRepo } from "../../../src/channels/whatsapp/directory/ContactsRepo.ts"
import { GroupsRepo } from "../../../src/channels/whatsapp/directory/GroupsRepo.ts"
import * as InboundEvents from "../../../src/channels/whatsapp/inbox/InboundEvents.ts"
import { InboxRepo } from "../../../src/channels/whatsapp/inbox/InboxRepo.ts"
import { OutboxRepo } from "../../../src/channels/whatsapp/outbox/OutboxRepo.ts"
import { OutboxStatusUpdates } from "../../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import { SessionRowRepo } from "../../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { Usage } from "../../../src/usage/Usage.ts"
import { MessageId } from "../../../src/values/Ids.ts"
import { formerOwnerChangesNothing } from "../../support/formerOwner.ts"
import { makeSessionRow } from "../../support/sessionRow.ts"
import { noEvents } from "../../support/testEvents.ts"

const Subject = Layer.mergeAll(
  SessionRowRepo.layer,
  OutboxRepo.layer,
  OutboxStatusUpdates.layer.pipe(Layer.provide(Usage.layer)),
  InboxRepo.layer,
  ContactsRepo.layer,
  GroupsRepo.layer,
  CredentialStore.layer
).pipe(
  Layer.provide(Layer.succeed(Journal, Journal.of({ write: () => Effect.void }))),
  Layer.provideMerge(noEvents),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(3))))
)

/** A session with a queued message and a received one. */
const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { id } = yield* makeSessionRow(true)
  const [queued] = yield* sql`with added as (
      insert into messages (account_id, channel, session_id, direction, recipient, content)
      select account_id, 'whatsapp', id, 'out', '+15550100300', '{"body": "Hello"}' from whatsapp_sessions
      where id = ${id} returning id
    )
    insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane) select id, ${id}::bigint, 'OUT', 0 from added
    returning message_id`
  const [received] = yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id)
    values (${id}, 'message', '1@lid', 'IN') returning id`
  return { id, queued: MessageId.make(Number(queued?.["message_id"])), received: Number(received?.["id"]) }
})

type Row = Effect.Success<typeof make>

const claim = Effect.fnUntraced(function*({ id }: Row) {
  const { epoch } = Option.getOrThrow(yield* (yield* SessionRowRepo).claim(id))
  const owned = { id, epoch }
  return { ...owned, credentials: yield* (yield* CredentialStore).open(owned) }
})

const owned = { status: "connected", is_paired: true, is_replaced: false, reason: null, desired: "on" } as const

formerOwnerChangesNothing("a WhatsApp session", {
  layer: Subject,
  make,
  claim,
  takeOver: claim,
  writes: {
    "new status": ({ epoch, id }) =>
      Effect.flatMap(
        SessionRowRepo,
        ({ change }) =>
          change({ id, epoch, ...owned, failures: 7, phone_number: null, has_connected: false, retry_later: false })
      ),
    "next connection": ({ epoch, id }) => Effect.flatMap(SessionRowRepo, ({ nextEpoch }) => nextEpoch({ id, epoch })),
    credentials: ({ credentials }) =>
      Effect.exit(
        credentials.set([{ type: "session", key: "a", value: Buffer.from(`of ${credentials.owned.epoch}`) }])
      ),
    "written message": ({ epoch, id }, { queued }) =>
      Effect.flatMap(
        OutboxRepo,
        ({ write }) => write({ id, epoch }, [{ message_id: queued, chat: "1@lid", body: new Uint8Array([1]) }])
      ),
    "prepared file": ({ epoch, id }, { queued }) =>
      Effect.flatMap(
        OutboxRepo,
        ({ storePrepared }) =>
          storePrepared({ id, epoch }, { message_id: queued, chat: "1@lid", body: new Uint8Array([1]) })
      ),
    "postponed message": ({ epoch, id }, { queued }) =>
      Effect.flatMap(OutboxRepo, ({ postpone }) => postpone({ id, epoch }, queued, Duration.hours(1))),
    "failed message": ({ epoch, id }) =>
      Effect.flatMap(
        OutboxStatusUpdates,
        ({ write }) => write([{ sessionId: id, whatsappId: "OUT", status: "failed" }], { id, epoch })
      ),
    "published message": ({ epoch, id }, { received }) =>
      Effect.flatMap(InboundEvents.make, ({ publish }) =>
        publish({
          owned: { id, epoch },
          items: [{
            id: received,
            chat: "1@lid",
            whatsappId: "IN",
            kind: "message",
            author: { lid: "1@lid", phone: "15550100301" },
            isGroup: false,
            pushName: "Ada",
            sentAt: undefined,
            message: { type: "text", content: { body: "Hello" }, hasFile: false }
          }],
          phones: new Map()
        }))
  },
  state: ({ id }) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql`select to_jsonb(s) as row from whatsapp_sessions s where id = ${id}
        union all select to_jsonb(k) from whatsapp_keys k where session_id = ${id}
        union all select to_jsonb(o) from whatsapp_outbox o where session_id = ${id}
        union all select to_jsonb(i) from whatsapp_inbox i where session_id = ${id}
        union all select to_jsonb(m) from messages m where session_id = ${id}
        union all select to_jsonb(c) from whatsapp_contacts c where session_id = ${id}`)
})
