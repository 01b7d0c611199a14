import { Context, Effect, Layer, type Option } from "effect"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import type { AccountId } from "../../values/Ids.ts"
import { type PageRequest, window } from "../../values/Page.ts"
import type { MailCondition } from "./MailFilter.ts"
import { readWords } from "./readMail.ts"
import { type NewMail, SandboxInboxRepo, type SandboxMail, type SandboxMailSummary } from "./SandboxInboxRepo.ts"

const defaultKeep = 10_000

const MiB = 1024 * 1024

/** The most bytes of the mails of a test account, and of all mails. */
const defaultBytes = { share: 200 * MiB, total: 2048 * MiB }

/** Messages of one insert: enough to share a commit, few enough to hold in memory when they are large. */
const maxPerInsert = 50

/** A message that the SMTP server accepted. Each recipient gets a mail. */
export interface ReceivedMail {
  /** The test account that sent it; null for all other mail. */
  readonly account: AccountId | null
  readonly envelopeFrom: string
  readonly recipients: ReadonlyArray<string>
  readonly raw: Uint8Array
}

/** A page of the inbox, of the mails that meet all conditions. */
export interface InboxRequest extends PageRequest {
  readonly conditions?: ReadonlyArray<MailCondition>
}

/** A page with the number of mails in all pages that no person has opened. */
export interface InboxPage {
  readonly rows: ReadonlyArray<SandboxMailSummary>
  readonly total: number
  readonly unread: number
}

const mailsOf = Effect.fnUntraced(function*({ account, envelopeFrom, raw, recipients }: ReceivedMail) {
  const words = yield* readWords(raw)
  return recipients.map((recipient): NewMail => ({ ...words, account, envelopeFrom, recipient, raw }))
})

/** The newest mails that the sandbox's SMTP server received. */
export class SandboxInbox extends Context.Service<SandboxInbox, {
  /** Stores a message. It is committed when the effect succeeds. */
  readonly add: (mail: ReceivedMail) => Effect.Effect<void>
  /** Newest first. */
  readonly list: (request: InboxRequest) => Effect.Effect<InboxPage>
  readonly get: (id: number) => Effect.Effect<Option.Option<SandboxMail>>
  /** Deletes the mails that meet all conditions. Returns how many there were. */
  readonly removeAll: (conditions: ReadonlyArray<MailCondition>) => Effect.Effect<number>
  /** Deletes a mail. Returns whether it existed. */
  readonly remove: (id: number) => Effect.Effect<boolean>
  readonly markRead: (id: number) => Effect.Effect<void>
  readonly markAllRead: Effect.Effect<void>
}>()("messaging-service/sandbox/mail/SandboxInbox") {
  /**
   * Keeps the newest mails: `keep` of them, within `bytes`, and up to 5 % more between two deletions. Concurrent messages
   * share an insert.
   */
  static readonly layer = (
    { bytes = defaultBytes, keep = defaultKeep }: { readonly keep?: number; readonly bytes?: typeof defaultBytes } = {}
  ) =>
    Layer.effect(
      SandboxInbox,
      Effect.gen(function*() {
        const repo = yield* SandboxInboxRepo
        let sincePruned = 0
        let bytesSincePruned = 0
        const insert = Effect.fn("SandboxInbox.insert")(function*(messages: ReadonlyArray<ReceivedMail>) {
          const mails = (yield* Effect.forEach(messages, mailsOf)).flat()
          yield* repo.insert(mails)
          sincePruned += mails.length
          // Not after every insert: finding the oldest mail to keep reads an index over all rows.
          if (sincePruned >= keep / 20) {
            sincePruned = 0
            yield* repo.prune(keep)
          }
          bytesSincePruned += mails.reduce((sum, { raw }) => sum + raw.length, 0)
          if (bytesSincePruned >= bytes.share / 20) {
            bytesSincePruned = 0
            yield* repo.pruneBytes(bytes)
          }
          return messages.map(() => undefined)
        })
        return SandboxInbox.of({
          add: yield* GroupCommit.make({ maxSize: maxPerInsert, concurrency: 2, run: insert }),
          list: Effect.fn("SandboxInbox.list")(function*({ conditions = [], ...request }: InboxRequest) {
            const { total, unread } = yield* repo.total(conditions)
            return { rows: yield* repo.page({ conditions, ...window(request) }), total, unread }
          }),
          get: repo.get,
          removeAll: (conditions) => Effect.map(repo.remove(conditions), (removed) => removed.length),
          remove: (id) => Effect.map(repo.removeOne(id), (removed) => removed.length > 0),
          markRead: repo.markRead,
          markAllRead: repo.markAllRead
        })
      })
    ).pipe(Layer.provide(SandboxInboxRepo.layer))
}
