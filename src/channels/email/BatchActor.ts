/**
 * Sends one bulk mail.
 *
 * Who talks to it: `BulkEmail` and the sweeper, by the one persisted `Run` of its batch, which stays open until the batch
 * has ended. Where its state lives: in the rows of `email_batches` and `email_messages`; in memory it has the recipients
 * that it claimed (status `sending`). When its node leaves, those in the middle of an SMTP conversation are finished and
 * the others given back. When its node dies, `Run` is handed to the next owner: rows found in `sending` may or may not
 * have been accepted by the relay, which no protocol can settle, so they are sent again with the same Message-ID and the
 * same bytes, and counted as ambiguous. A repeated `Run` of a batch that has ended returns at once.
 */
import { DateTime, Duration, Effect, Option, Redacted, type Result } from "effect"
import { Entity } from "effect/cluster"
import { EmailDomains } from "../../email-domains/EmailDomains.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { untilDatabaseIsBack } from "../../platform/database/untilDatabaseIsBack.ts"
import * as Template from "../../templates/Template.ts"
import { parseDomainName } from "../../values/DomainName.ts"
import { EmailBatchId } from "../../values/Ids.ts"
import { fromDateTime } from "../../values/Timestamp.ts"
import { BatchCompletion } from "./BatchCompletion.ts"
import { BatchEntity } from "./BatchEntity.ts"
import { type BatchContent, type Claimed, makeBatchesRepo } from "./BatchesRepo.ts"
import { BatchOutcomes } from "./BatchOutcomes.ts"
import { type SendOutcome, settle } from "./BatchState.ts"
import { type Letter, prepare } from "./compose.ts"
import { DkimSigningFailed } from "./DkimErrors.ts"
import { maxAttempts } from "./SendRetryPolicy.ts"
import { type DkimSigner, parseKey, sign } from "./sign.ts"
import { Smtp } from "./Smtp.ts"
import { UnsubscribeLinks } from "./UnsubscribeLinks.ts"

/** Recipients claimed by one statement: all that a killed node can leave in doubt of one batch. */
const grip = 50

/** A batch whose recipients all wait for a later attempt looks at its rows at least this often. */
const longestNap = Duration.seconds(60)

/** A batch made ready for sending: its templates read once, its key parsed once. */
interface Prepared {
  readonly content: BatchContent
  readonly template: Template.Template
  readonly compose: (letter: Letter) => Buffer
  readonly date: number
  readonly domain: string
  /** Nothing when the domain has no key; a failure when it has one that cannot be used. */
  readonly signer: Result.Result<Option.Option<DkimSigner>, DkimSigningFailed>
}

const make = Effect.gen(function*() {
  const address = yield* Entity.CurrentAddress
  const id = EmailBatchId.make(address.entityId)
  const { smtpConnections } = yield* AppConfig
  const smtp = yield* Smtp
  const domains = yield* EmailDomains
  const links = yield* UnsubscribeLinks
  const outcomes = yield* BatchOutcomes
  const completion = yield* BatchCompletion
  const repo = yield* makeBatchesRepo

  const signerOf = Effect.fnUntraced(function*({ account_id }: BatchContent, domain: string) {
    const pem = yield* domains.dkimKey(account_id, domain)
    if (Option.isNone(pem)) return Option.none<DkimSigner>()
    const name = yield* Effect.fromResult(parseDomainName(domain)).pipe(
      Effect.mapError((reason) => new DkimSigningFailed({ domain, reason }))
    )
    const key = yield* parseKey(Redacted.value(pem.value)).pipe(
      Effect.mapError(({ reason }) => new DkimSigningFailed({ domain, reason }))
    )
    return Option.some({ domain: name, selector: "api", key })
  })

  const ready = Effect.fnUntraced(function*(content: BatchContent) {
    const from = { ...(content.from_name !== null && { name: content.from_name }), address: content.from_address }
    const domain = content.from_address.slice(content.from_address.lastIndexOf("@") + 1)
    const prepared: Prepared = {
      content,
      domain,
      // It was compiled when the batch was accepted, so a failure now is a defect of this program.
      template: yield* Effect.orDie(Effect.fromResult(Template.compile(content))),
      compose: prepare({ from, feedbackId: `${id}:${content.account_id}:bulk:messaging` }),
      // The batch's own date: a repetition after a crash has the same bytes.
      date: DateTime.toEpochMillis(DateTime.makeUnsafe(content.created_at)),
      signer: yield* Effect.result(signerOf(content, domain))
    }
    return prepared
  })

  const handOver = Effect.fnUntraced(function*(batch: Prepared, claimed: Claimed, rendered: Template.Rendered) {
    const signer = yield* Effect.fromResult(batch.signer)
    const plain = batch.compose({
      to: claimed.recipient,
      ...rendered,
      messageId: `${claimed.id}.${id.slice(12).toLowerCase()}@${batch.domain}`,
      date: batch.date,
      listUnsubscribe: { url: links.urlOf(claimed.id) }
    })
    const message = Option.isNone(signer) ? plain : yield* sign(plain, signer.value)
    yield* smtp.send({
      envelope: { from: batch.content.from_address, to: claimed.recipient },
      message,
      priority: "bulk"
    })
    return { _tag: "Accepted" } as const
  })

  const process = Effect.fnUntraced(function*(batch: Prepared, claimed: Claimed) {
    const rendered = Template.render(batch.template, claimed.variables)
    const outcome = yield* handOver(batch, claimed, rendered).pipe(
      Effect.catch((failure): Effect.Effect<SendOutcome> => Effect.succeed(failure))
    )
    yield* untilDatabaseIsBack(outcomes.record({
      id: claimed.id,
      accountId: batch.content.account_id,
      batchId: id,
      to: claimed.recipient,
      subject: rendered.subject,
      at: fromDateTime(yield* DateTime.now),
      settled: settle(claimed.attempt_count, outcome)
    }))
  })

  /** One page of recipients; false when the batch has ended. */
  const round = Effect.fnUntraced(function*(batch: Prepared) {
    const claimed = yield* untilDatabaseIsBack(Effect.orDie(repo.claim({ id, limit: grip })))
    // A conversation that has begun is ended and written down, also when this node has to leave.
    yield* Effect.forEach(claimed, (recipient) => Effect.uninterruptible(process(batch, recipient)), {
      concurrency: smtpConnections * 2,
      discard: true
    })
    if (claimed.length > 0) return true
    yield* untilDatabaseIsBack(completion.complete(id))
    const { millis } = yield* untilDatabaseIsBack(Effect.orDie(repo.nextDue(id)))
    if (millis === null) return false
    yield* Effect.sleep(Duration.min(longestNap, Duration.millis(Math.max(1, millis))))
    return true
  })

  const run = Effect.gen(function*() {
    const content = Option.getOrUndefined(yield* Effect.orDie(repo.content(id)))
    if (content === undefined || !content.is_open) return
    yield* Effect.orDie(repo.begin(id))
    yield* Effect.orDie(repo.takeOver(id, maxAttempts))
    const batch = yield* ready(content)
    while (yield* round(batch)) continue
  }).pipe(Effect.onInterrupt(() => Effect.ignoreCause(repo.giveBack(id))))

  return BatchEntity.of({ Run: () => run })
})

/** Runs batches on this node. */
export const BatchActor = BatchEntity.toLayer(make, { maxIdleTime: "1 minute" })
