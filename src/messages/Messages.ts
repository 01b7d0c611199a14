import { Context, Effect, Layer, Option } from "effect"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { AccountId, MessageBatchId, MessageId } from "../values/Ids.ts"
import type { PageOf, Sort } from "../values/Page.ts"
import type { Channel, Message, MessageBatch } from "./Message.ts"
import type { MessageFilter } from "./messageQuery.ts"
import { MessagesRepo } from "./MessagesRepo.ts"

/** The account and channel of messages. An id of another channel is not found. */
export interface Owner {
  readonly accountId: AccountId
  readonly channel: Channel
}

/** Reads the messages and batches of every channel except email. */
export class Messages extends Context.Service<Messages, {
  readonly list: (
    owner: Owner,
    filter: MessageFilter,
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<Message>>
  readonly find: (owner: Owner, id: MessageId) => Effect.Effect<Message, NotFound>
  readonly batches: (
    owner: Owner,
    filter: { readonly sort: Sort; readonly status?: MessageBatch["status"] | undefined },
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<MessageBatch>>
  readonly batch: (owner: Owner, id: MessageBatchId) => Effect.Effect<MessageBatch, NotFound>
}>()("messaging-service/messages/Messages") {
  static readonly layer = Layer.effect(
    Messages,
    Effect.gen(function*() {
      const repo = yield* MessagesRepo
      return Messages.of({
        list: Effect.fn("Messages.list")(function*(owner, filter, window) {
          const { batch_id = null, direction = null, from_date = null, session_id = null, sort, status = null } = filter
          const { to = null, to_date = null } = filter
          const asked = {
            ...owner,
            batch_id,
            direction,
            from_date,
            session_id,
            sort,
            status,
            to,
            to_date,
            ...window
          }
          // Counts first, so that the page contains every counted row.
          const { total } = yield* repo.count(asked)
          return { rows: yield* repo.list(asked), total }
        }),
        find: Effect.fn("Messages.find")(function*(owner, id) {
          const row = yield* repo.find({ ...owner, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        batches: Effect.fn("Messages.batches")(function*(owner, { sort, status = null }, window) {
          const asked = { ...owner, sort, status, ...window }
          const { total } = yield* repo.countBatches(asked)
          return { rows: yield* repo.listBatches(asked), total }
        }),
        batch: Effect.fn("Messages.batch")(function*(owner, id) {
          const row = yield* repo.findBatch({ ...owner, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(MessagesRepo.layer))
}
