import { Context, Effect, Layer, type Option } from "effect"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import type { PageOf, PageRequest } from "../../values/Page.ts"
import { readHeaders } from "./readMail.ts"
import { type NewMail, SandboxInboxRepo, type SandboxMail, type SandboxMailSummary } from "./SandboxInboxRepo.ts"

const defaultKeep = 10_000

/** Messages of one insert: enough to share a commit, few enough to hold in memory when they are large. */
const maxPerInsert = 50

/** A message that the SMTP server accepted. Each recipient gets a mail. */
export interface ReceivedMail {
  readonly envelopeFrom: string
  readonly recipients: ReadonlyArray<string>
  readonly raw: Uint8Array
}

/** A page of the inbox; `to` is a whole address, or a part of one. */
export interface InboxRequest extends PageRequest {
  readonly to?: string | undefined
}

const mailsOf = Effect.fnUntraced(function*({ envelopeFrom, raw, recipients }: ReceivedMail) {
  const { sender, subject } = yield* readHeaders(raw)
  return recipients.map((recipient): NewMail => ({ envelopeFrom, recipient, sender, subject, raw }))
})

/** The newest mails that the sandbox's SMTP server received. */
export class SandboxInbox extends Context.Service<SandboxInbox, {
  /** Stores a message. It is committed when the effect succeeds. */
  readonly add: (mail: ReceivedMail) => Effect.Effect<void>
  /** Newest first. */
  readonly list: (request: InboxRequest) => Effect.Effect<PageOf<SandboxMailSummary>>
  readonly get: (id: number) => Effect.Effect<Option.Option<SandboxMail>>
}>()("messaging-service/sandbox/mail/SandboxInbox") {
  /** Keeps the newest `keep` mails, and up to 5 % more between two deletions. Concurrent messages share an insert. */
  static readonly layer = ({ keep = defaultKeep }: { readonly keep?: number } = {}) =>
    Layer.effect(
      SandboxInbox,
      Effect.gen(function*() {
        const repo = yield* SandboxInboxRepo
        let sincePruned = 0
        const insert = Effect.fn("SandboxInbox.insert")(function*(messages: ReadonlyArray<ReceivedMail>) {
          const mails = (yield* Effect.forEach(messages, mailsOf)).flat()
          yield* repo.insert(mails)
          sincePruned += mails.length
          // Not after every insert: finding the oldest mail to keep reads an index over all rows.
          if (sincePruned >= keep / 20) {
            sincePruned = 0
            yield* repo.prune(keep)
          }
          return messages.map(() => undefined)
        })
        return SandboxInbox.of({
          add: yield* GroupCommit.make({ maxSize: maxPerInsert, concurrency: 2, run: insert }),
          list: Effect.fn("SandboxInbox.list")(function*({ page, per_page, to }: InboxRequest) {
            const { total } = yield* repo.total({ to })
            return { rows: yield* repo.page({ to, limit: per_page, offset: (page - 1) * per_page }), total }
          }),
          get: repo.get
        })
      })
    ).pipe(Layer.provide(SandboxInboxRepo.layer))
}
