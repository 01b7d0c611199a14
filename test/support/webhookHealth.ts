import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { PublicUrl } from "../../src/platform/http/PublicUrl.ts"
import { WebhookId } from "../../src/values/Ids.ts"
import { DeliveryBudget } from "../../src/webhooks/delivery/InFlightDeliveries.ts"
import { UnhealthyNotifier } from "../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import { makeAccount } from "./Service.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { noEvents } from "./testEvents.ts"

/** The alarm on a separate pool as in a node, sharing the notices with the rest of the node. */
export const alarmedNode = (env: Readonly<Record<string, string>>) => {
  const Settings = AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))))
  const Shared = Notices.layer.pipe(
    Layer.provideMerge(PublicUrl.layer(0)),
    Layer.provideMerge(Settings)
  )
  return Layer.merge(UnhealthyNotifier.layer, DeliveryBudget.layer).pipe(
    Layer.provide(noEvents),
    Layer.provideMerge(Layer.fresh(TestDatabase.layerClient)),
    Layer.provideMerge(Shared)
  )
}

/** Such a node with a new database. */
export const alarmed = (env: Readonly<Record<string, string>>) =>
  alarmedNode(env).pipe(Layer.provideMerge(TestDatabase.layer))

const State = Schema.Struct({
  unhealthy_reason: Schema.NullOr(Schema.String),
  failure_count: Schema.Int,
  /** Whole seconds since it began to fail. */
  seconds: Schema.NullOr(Schema.Int)
})

const Mail = Schema.Struct({ kind: Schema.String, once: Schema.String, subject: Schema.String, body: Schema.String })

/** A webhook of a new account, in the database only. */
export const storedWebhook = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
    values (${accountId}, 'https://hooks.example/in?token=x', array['*'], '', 'whsec_') returning id`
  const id = WebhookId.make(Number(row?.["id"]))
  return {
    id,
    state: Effect.flatMap(
      // In tens, so that a test may take a few seconds.
      sql`select unhealthy_reason, failure_count, (div(extract(epoch from now() - failing_since), 10) * 10)::integer as seconds
        from webhooks where id = ${id}`,
      Schema.decodeUnknownEffect(Schema.Tuple([State]))
    ).pipe(Effect.map(([state]) => state)),
    notices: Effect.flatMap(
      sql`select kind, once, subject, body from notices where account_id = ${accountId} order by id`,
      Schema.decodeUnknownEffect(Schema.Array(Mail))
    ),
    /** Makes every commit fail that marks this webhook unhealthy. */
    refusingCommits: Effect.acquireRelease(
      Effect.gen(function*() {
        yield* sql`create function refuse() returns trigger language plpgsql as
          'begin raise exception ''no''; end'`
        yield* sql.unsafe(
          `create constraint trigger refusal after update on webhooks deferrable initially deferred
            for each row when (new.id = ${id} and new.unhealthy_reason is not null) execute function refuse()`
        )
      }),
      () => Effect.orDie(sql`drop function refuse() cascade`)
    )
  }
})
