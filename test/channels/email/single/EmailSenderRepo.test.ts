import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RecipientOutcomes } from "../../../../src/channels/email/recipients/RecipientOutcomes.ts"
import { type SendOutcome, transition } from "../../../../src/channels/email/recipients/RecipientState.ts"
import { type ClaimedRecipient, EmailSenderRepo } from "../../../../src/channels/email/single/EmailSenderRepo.ts"
import { EmailsRepo, type StoredEmail } from "../../../../src/channels/email/single/EmailsRepo.ts"
import { RelayUnavailable } from "../../../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../../../src/channels/email/suppressions/Suppressions.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"

const Subject = RecipientOutcomes.layer.pipe(
  Layer.provide(noEvents),
  Layer.provide([AppConfig.layer, Suppressions.layer, Usage.layer]),
  Layer.provideMerge([EmailSenderRepo.layer, EmailsRepo.layer]),
  Layer.provideMerge(TestDatabase.layer)
)

/** Accepts a single email to `count` recipients in a new account. */
const accept = Effect.fnUntraced(function*(count: number) {
  const { accountId } = yield* makeAccount()
  const repo = yield* EmailsRepo
  const email: StoredEmail = {
    accountId,
    recipients: Array.from({ length: count }, (_, index) => ({
      address: EmailAddress.make(`p${index}@people.example`),
      kind: "to"
    })),
    from: { address: EmailAddress.make("us@example.com") },
    replyTo: undefined,
    subject: "s",
    templateId: null,
    messageId: "m",
    trackOpens: false,
    links: null,
    codeSeed: undefined,
    headers: undefined,
    sending: { ...noLabels, sendAt: null, acceptedBy: null },
    parts: [{ kind: "text", content: Buffer.from("t") }]
  }
  return (yield* repo.insert(email)).id
})

/** Records the outcome of a claim. */
const record = Effect.fnUntraced(function*(claimed: ClaimedRecipient, outcome: SendOutcome) {
  const outcomes = yield* RecipientOutcomes
  yield* outcomes.record({
    id: claimed.id,
    emailId: claimed.email_id,
    accountId: claimed.account_id,
    batchId: null,
    to: claimed.recipient,
    subject: "s",
    at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
    labels: noLabels,
    claimNumber: claimed.claim_number,
    attemptsBefore: claimed.attempt_count,
    transition: transition(claimed.attempt_count, outcome, 0)
  })
})

const recordSent = (claimed: ClaimedRecipient) => record(claimed, { _tag: "Accepted" })

const maxAttempts = 8
const now = { leaseTimeout: Duration.zero, maxAttempts }
const later = { leaseTimeout: Duration.seconds(60), maxAttempts }

layer(Subject, { excludeTestServices: true })("EmailSenderRepo", (it) => {
  it.effect("shares due recipients between nodes that claim concurrently", () =>
    Effect.gen(function*() {
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      const email = yield* accept(40)
      const claims = yield* Effect.all(Array.from({ length: 8 }, () => repo.claimOldest([5, 5])), { concurrency: 8 })
      const all = claims.flat()
      assert.strictEqual(all.length, 40)
      assert.strictEqual(new Set(all.map(({ id }) => id)).size, 40)
      assert.isTrue(all.every(({ attempt_count, email_id }) => email_id === email && attempt_count === 0))
      assert.deepStrictEqual(yield* repo.claimOldest([5, 5]), [])
      yield* Effect.forEach(all, recordSent, { discard: true, concurrency: 8 })
    }))

  it.effect("marks claims of addresses that their account suppressed, and not those that another account suppressed", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      const email = yield* accept(3)
      const { accountId: other } = yield* makeAccount()
      yield* sql`insert into suppressions (account_id, email, reason)
        select account_id, 'p0@people.example', 'manual' from email_messages where id = ${email}
        union all select ${other}::bigint, 'p1@people.example', 'manual'`
      const claimed = yield* repo.claimOldest([5, 5])
      assert.lengthOf(claimed, 3)
      const suppressed = claimed.filter(({ is_suppressed }) => is_suppressed)
      assert.deepStrictEqual(suppressed.map(({ recipient }) => String(recipient)), ["p0@people.example"])
      yield* Effect.forEach(claimed, recordSent, { discard: true })
    }))

  it.effect("returns released claims to the queue unchanged, unless another node has reclaimed them", () =>
    Effect.gen(function*() {
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      yield* accept(2)
      const [released, reclaimed] = yield* repo.claimOldest([2, 2])
      if (released === undefined || reclaimed === undefined) return yield* Effect.die("the claim is too small")
      yield* repo.release([released])
      yield* repo.reclaimExpired(now)
      const again = yield* repo.claimOldest([2, 2])
      assert.deepStrictEqual(
        new Set(again),
        new Set([{ ...released, claim_number: 2 }, { ...reclaimed, attempt_count: 1, claim_number: 2 }])
      )
      yield* repo.release([reclaimed])
      assert.deepStrictEqual(yield* repo.claimOldest([2, 2]), [])
      yield* Effect.forEach(again, recordSent, { discard: true })
    }))

  it.effect("reclaims recipients whose lease expired and ignores their former owner's outcome", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      const email = yield* accept(2)
      const [kept, lost] = yield* repo.claimOldest([2, 2])
      if (kept === undefined || lost === undefined) return yield* Effect.die("no recipient was claimed")
      yield* sql`update email_messages set due_at = now() - interval '61 seconds' where status = 'sending'`
      yield* repo.renew([kept])
      assert.deepStrictEqual(yield* repo.reclaimExpired(later), [{ id: lost.id, has_failed: false }])
      yield* recordSent(lost)
      const [again] = yield* repo.claimOldest([2, 2])
      assert.deepStrictEqual(again, { ...lost, attempt_count: 1, claim_number: 2 })
      // The former owner cannot renew: the claim belongs to another node.
      yield* sql`update email_messages set due_at = now() - interval '61 seconds' where id = ${lost.id}`
      yield* repo.renew([lost])
      assert.deepStrictEqual(yield* repo.reclaimExpired(later), [{ id: lost.id, has_failed: false }])
      const [last] = yield* repo.claimOldest([2, 2])
      if (last !== undefined) yield* recordSent(last)
      yield* recordSent(kept)
      const rows = yield* sql`select status, attempt_count from email_messages where id = ${email} or part_of = ${email}
        order by attempt_count`
      assert.deepStrictEqual(rows, [{ status: "sent", attempt_count: 1 }, { status: "sent", attempt_count: 3 }])
    }))

  it.effect("an outcome that costs no attempt and is written twice does not end the next claim", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { claimOldest } = yield* Effect.map(EmailSenderRepo, ({ claimsOfMode }) => claimsOfMode("live"))
      const email = yield* accept(1)
      const [first] = yield* claimOldest([1, 1])
      if (first === undefined) return yield* Effect.die("no recipient was claimed")
      const away = new RelayUnavailable({ fault: "connect", reason: "the relay is away", retryInMillis: 1_000 })
      yield* record(first, away)
      yield* sql`update email_messages set due_at = now() where id = ${email}`
      const [second] = yield* claimOldest([1, 1])
      assert.deepStrictEqual(second, { ...first, claim_number: 2 })
      yield* record(first, away)
      yield* recordSent(second ?? first)
      assert.deepStrictEqual(
        yield* sql`select status, attempt_count from email_messages where id = ${email}`,
        [{ status: "sent", attempt_count: 1 }]
      )
    }))

  it.effect("fails a recipient that was reclaimed too often", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      const email = yield* accept(1)
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        assert.strictEqual((yield* repo.claimOldest([1, 1])).length, 1)
        yield* repo.reclaimExpired(now)
      }
      assert.deepStrictEqual(yield* repo.claimOldest([1, 1]), [])
      const rows = yield* sql`select status, error from email_messages where id = ${email}`
      assert.deepStrictEqual(rows, [{ status: "failed", error: "interrupted before the relay had confirmed it" }])
    }))

  it.effect("claims the oldest rows of each account whose turn it is, and codes by themselves", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* Effect.map(
        EmailSenderRepo,
        ({ claimsOfMode, ...repo }) => ({ ...repo, ...claimsOfMode("live") })
      )
      yield* sql`insert into email_messages (account_id, lane, recipient, due_at)
        select a, l, 'turn' || g || '@example.com', now() - interval '1 minute' * (10 - g)
        from generate_series(101, 103) a, generate_series(0, 1) l, generate_series(1, 3) g`
      yield* sql`insert into email_messages (account_id, recipient, due_at)
        values (104, 'later@example.com', now() + interval '1 hour')`
      const due = [0, 1].flatMap((lane) => [101, 102, 103].map((account_id) => ({ lane, account_id })))
      assert.deepStrictEqual(yield* repo.waiting, due)
      const claimed = yield* repo.claimTurns([
        { lane: 1, account_id: 103, limit: 2 },
        { lane: 1, account_id: 101, limit: 1 },
        { lane: 0, account_id: 102, limit: 5 }
      ])
      const shown = claimed.map(({ account_id, lane, recipient }) => `${account_id} ${lane} ${recipient.slice(0, 5)}`)
      assert.deepStrictEqual(
        new Set(shown),
        new Set([
          "103 1 turn1",
          "103 1 turn2",
          "101 1 turn1",
          "102 0 turn1",
          "102 0 turn2",
          "102 0 turn3"
        ])
      )
      const oldest = yield* repo.claimOldest([4, 1])
      assert.deepStrictEqual(oldest.map(({ lane }) => lane).toSorted(), [0, 0, 0, 0])
      assert.deepStrictEqual((yield* repo.claimOldest([4, 1])).map(({ lane }) => lane).toSorted(), [0, 0, 1])
      yield* sql`delete from email_messages where account_id between 101 and 104`
    }))
})
