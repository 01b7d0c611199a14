import { Context, Effect, Layer, Option } from "effect"
import * as Query from "../platform/database/Query.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { AccountId, MessageBatchId, MessageId } from "../values/Ids.ts"
import { tagsOf } from "../values/Labels.ts"
import type { PageOf, Window } from "../values/Page.ts"
import type { Channel, Message, MessageBatch } from "./Message.ts"
import type { MessageFilter } from "./messageQuery.ts"
import { MessagesRepo } from "./MessagesRepo.ts"

/** The account and channel of messages. An id of another channel is not found. */
export interface Owner {
  readonly accountId: AccountId
  readonly channel: Channel
}

interface BatchFilter extends Pick<MessageFilter, "sort" | "tag"> {
  readonly status?: MessageBatch["status"] | undefined
}

/** Reads the messages and batches of every channel except email. */
export class Messages extends Context.Service<Messages, {
  readonly list: (
    owner: Owner,
    filter: MessageFilter,
    window: Window
  ) => Effect.Effect<PageOf<Message>>
  readonly find: (owner: Owner, id: MessageId) => Effect.Effect<Message, NotFound>
  readonly batches: (
    owner: Owner,
    filter: BatchFilter,
    window: Window
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
          const { chat = null, to = null, to_date = null } = filter
          return yield* Query.windowOf(repo, {
            ...owner,
            batch_id,
            chat,
            direction,
            from_date,
            session_id,
            sort,
            status,
            tags: tagsOf(filter),
            to,
            to_date,
            ...window
          })
        }),
        find: Effect.fn("Messages.find")(function*(owner, id) {
          const row = yield* repo.find({ ...owner, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        batches: Effect.fn("Messages.batches")((owner, { sort, status = null, ...filter }, window) =>
          Query.windowOf(
            { count: repo.countBatches, list: repo.listBatches },
            { ...owner, sort, status, tags: tagsOf(filter), ...window }
          )
        ),
        batch: Effect.fn("Messages.batch")(function*(owner, id) {
          const row = yield* repo.findBatch({ ...owner, id })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(MessagesRepo.layer))
}
