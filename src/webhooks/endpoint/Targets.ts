import { Context, Effect, Layer, Option } from "effect"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { type Target, WebhooksRepo } from "./WebhooksRepo.ts"

/** Reads webhooks for their actors, many in one statement. */
export class Targets extends Context.Service<Targets, {
  /** The webhook as the database has it now; none when it is deleted. */
  readonly read: (id: WebhookId) => Effect.Effect<Option.Option<Target>>
}>()("messaging-service/webhooks/endpoint/Targets") {
  static readonly layer = Layer.effect(
    Targets,
    Effect.gen(function*() {
      const { targets } = yield* WebhooksRepo
      const read = yield* GroupCommit.make({
        maxSize: 200,
        concurrency: 1,
        run: (ids: ReadonlyArray<WebhookId>) =>
          Effect.map(targets(ids), (rows) => {
            const byId = new Map(rows.map((row) => [row.id, row]))
            return ids.map((id) => Option.fromNullishOr(byId.get(id)))
          })
      })
      return Targets.of({ read })
    })
  ).pipe(Layer.provide(WebhooksRepo.layer))
}
