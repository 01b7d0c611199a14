import { Effect, Layer } from "effect"
import { Entity, ShardingConfig } from "effect/cluster"
import { EmailChanges } from "../../src/channels/email/single/EmailChanges.ts"
import { Emails } from "../../src/channels/email/single/Emails.ts"
import { PartStatusUpdates } from "../../src/channels/sms/parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../../src/channels/sms/parts/SmsOutlet.ts"
import { SmsMessages } from "../../src/channels/sms/SmsMessages.ts"
import { WhatsAppMessages } from "../../src/channels/whatsapp/outbox/WhatsAppMessages.ts"
import { FailoverActor } from "../../src/failovers/FailoverActor.ts"
import { FailoverEntity } from "../../src/failovers/FailoverEntity.ts"
import { FailoverProgress } from "../../src/failovers/FailoverProgress.ts"
import { FailoversRepo } from "../../src/failovers/FailoversRepo.ts"
import { Messages } from "../../src/messages/Messages.ts"
import { Prices } from "../../src/pricing/Prices.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { Usage } from "../../src/usage/Usage.ts"
import type { Workload } from "./runSeed.ts"
import { Keys, RecordedEvents, Settings } from "./services.ts"
import { partOf, provider, smsParts } from "./smsParts.ts"

/** The actors of failovers, while the node has their shard. The sweeper runs beside them. */
const owned = Effect.scoped(Effect.gen(function*() {
  const client = yield* Entity.makeTestClient(FailoverEntity, FailoverActor)
  const { due } = yield* FailoversRepo
  const sweep = Effect.gen(function*() {
    for (const { id } of yield* due(10)) {
      const { Wake } = yield* client(id)
      yield* Effect.forkScoped(Wake())
    }
  })
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(sweep), Effect.sleep("1 second")))
}))

/** What a request on any node does after it has changed failovers, beside their actors. */
const advanceDue = Effect.gen(function*() {
  const { due } = yield* FailoversRepo
  const { advance } = yield* FailoverProgress
  for (const { id } of yield* due(10)) yield* advance(id)
})

const Services = Layer.mergeAll(FailoverProgress.layer, FailoversRepo.layer).pipe(
  Layer.provideMerge(SmsMessages.layer),
  Layer.provide([
    Layer.mock(Emails)({}),
    Layer.mock(EmailChanges)({}),
    Layer.mock(Messages)({}),
    Layer.mock(WhatsAppMessages)({}),
    Layer.mock(Prices)({ fresh: () => undefined, of: () => Effect.succeed(1) }),
    Quotas.layer
  ]),
  Layer.provideMerge(SmsOutlet.layerProvider),
  Layer.provideMerge(PartStatusUpdates.layer),
  Layer.provideMerge(Layer.mergeAll(RecordedEvents, Usage.layer, Settings, Keys, ShardingConfig.layer()))
)

/** What is wrong with a failover at the end of a run, or null. */
const fault = `case
  when f.completed_at is null then 'has no end'
  when (select count(*) from messages m where m.failover_id = f.id)
    <> (select count(s.message_id) from failover_steps s where s.failover_id = f.id) then 'has a message of no step'
  when (select count(*) from simulation.published p where p.event in ('message.sent', 'message.failed')
    and p.data->>'id' = f.id) <> 1 then 'has not one event of its end'
  when exists (select from failover_steps s
    join failover_steps next on next.failover_id = s.failover_id and next.position = s.position + 1
    join messages m on m.id = s.message_id
    where s.failover_id = f.id and next.begun_at is not null and m.status = 'sent'
      -- A message that can neither be withdrawn nor sent keeps the next step waiting for half a minute more.
      and next.begun_at < s.begun_at + (s.within_seconds + 30) * interval '1 second'
      and (s.until = 'sent' or next.begun_at < m.sent_at + s.within_seconds * interval '1 second'))
    then 'has begun a step before its time'
  when f.status <> case when exists (select from messages m where m.failover_id = f.id and m.status = 'sent')
    then 'sent' else 'failed' end then 'has another status than its messages'
  end`

/** Messages with steps by SMS. The owner of the shard moves them on, and both nodes send the parts of their steps. */
export const failovers: Workload = {
  ...smsParts,
  name: "failovers",
  tables: [...smsParts.tables, "failovers", "failover_steps", "failover_signals", "usage_daily"],
  rows: {
    ...smsParts.rows,
    all: `${smsParts.rows.all} union all select to_jsonb(f) || jsonb_build_object('fault', ${fault}) from failovers f`,
    itemOf: ({ fault, id, message_id, part_no }) =>
      typeof fault === "string" ? `${id}, which ${fault},` : partOf(message_id, part_no),
    isFinal: (row) => "fault" in row ? row["fault"] === null : smsParts.rows.isFinal(row),
    isSent: (row) => !("fault" in row) && smsParts.rows.isSent(row)
  },
  accept: ({ draw }) => [
    `with added as (
       insert into failovers (id, account_id, phone, status, tags, metadata, due_at)
       select 'msg_' || lpad(((select count(*) from failovers) + n)::text, 26, '0'), 1, '+250788123456', 'queued', '{}',
         '{}', now()
       from generate_series(1, $1::integer) n returning id, account_id
     )
     insert into failover_steps (failover_id, position, account_id, channel, recipient, until, within_seconds, request)
     select id, step, account_id, 'sms', '+250788123456', until, $3::integer, jsonb_build_object('channel', 'sms',
       'content', 'Hello', 'until', until, 'within_seconds', $3::integer)
     from added, generate_series(0, $2::integer - 1) step, lateral (values (case step when $4 then 'sent' else 'delivered' end)) u (until)`,
    [draw.between(1, 2), draw.between(1, 3), draw.between(1, 20), draw.between(0, 3)]
  ],
  start: (node, receiver) =>
    Effect.gen(function*() {
      const services = yield* Layer.build(Layer.provide(Services, provider(node, receiver)))
      const { wake } = yield* Effect.provide(SmsOutlet, services)
      return {
        wake: Effect.andThen(wake, Effect.provide(advanceDue, services)),
        owned: Effect.provide(owned, services)
      }
    })
}
