import { Context, Effect, Layer, Option } from "effect"
import type { NotFound } from "../../../platform/http/ApiErrors.ts"
import type { AccountId, EmailMessageId } from "../../../values/Ids.ts"
import { BatchSources } from "../bulk/BatchSources.ts"
import { type EmailMessageDetails, SourceGone } from "./Email.ts"
import * as EmailComposer from "./EmailComposer.ts"
import { Emails } from "./Emails.ts"
import { EmailSenderRepo } from "./EmailSenderRepo.ts"

/** The source of emails: the bytes that their mailers hand to the relay, before DKIM signs them. */
export class EmailSources extends Context.Service<EmailSources, {
  /** The record, and the copy that its recipient gets, with stars for a one-time code. */
  readonly read: (
    accountId: AccountId,
    id: EmailMessageId
  ) => Effect.Effect<{ readonly email: EmailMessageDetails; readonly source: Uint8Array }, NotFound | SourceGone>
}>()("messaging-service/channels/email/single/EmailSources") {
  static readonly layer = Layer.effect(
    EmailSources,
    Effect.gen(function*() {
      const emails = yield* Emails
      const batches = yield* BatchSources
      const repo = yield* EmailSenderRepo
      const compose = yield* EmailComposer.make

      const single = Effect.fnUntraced(function*(accountId: AccountId, id: EmailMessageId) {
        const content = yield* repo.content(id)
        if (Option.isNone(content) || content.value.account_id !== accountId) return Option.none()
        const parts = yield* repo.parts(id)
        return Option.some(compose({ ...content.value, code_seed: null, id, parts }))
      })

      return EmailSources.of({
        read: Effect.fn("EmailSources.read")(function*(accountId, id) {
          const email = yield* emails.find(accountId, id)
          const source = yield* email.batch_id === null ? single(accountId, id) : batches.read(accountId, id)
          return Option.isSome(source) ? { email, source: source.value } : yield* new SourceGone()
        })
      })
    })
  ).pipe(Layer.provide([EmailSenderRepo.layer, BatchSources.layer]))
}
