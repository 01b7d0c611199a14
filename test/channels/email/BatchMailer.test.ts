import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import type { BatchContent, Claimed } from "../../../src/channels/email/BatchesRepo.ts"
import { BatchMailer } from "../../../src/channels/email/BatchMailer.ts"
import { DefaultSender } from "../../../src/channels/email/DefaultSender.ts"
import { Smtp, type SmtpMail } from "../../../src/channels/email/Smtp.ts"
import { UnsubscribeLinks } from "../../../src/channels/email/UnsubscribeLinks.ts"
import { SenderNotVerified } from "../../../src/email-domains/EmailDomainErrors.ts"
import { EmailDomains } from "../../../src/email-domains/EmailDomains.ts"
import { SealBroken } from "../../../src/platform/crypto/Vault.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../../src/values/Ids.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"
import { dkimKey, dkimVerdict } from "../../support/bulkMail.ts"

const sent: Array<SmtpMail> = []

/** A relay that takes everything but mail to `crash`, where the program itself breaks. */
const Relay = Layer.succeed(
  Smtp,
  Smtp.of({
    send: (mail) =>
      Effect.sync(() => {
        if (mail.envelope.to.startsWith("crash")) throw new Error("a defect")
        sent.push(mail)
        return { response: "250 ok" }
      }),
    verify: Effect.never,
    capabilities: Effect.never
  })
)

const Domains = Layer.succeed(
  EmailDomains,
  EmailDomains.of({
    requireVerified: () => Effect.void,
    dkimKey: (_, domain) =>
      domain === "signed.example"
        ? Effect.succeedSome(Redacted.make(dkimKey.pem))
        : domain === "sealed.example"
        ? Effect.fail(new SealBroken({ what: "key" }))
        : domain === "broken.example"
        ? Effect.succeedSome(Redacted.make("no key"))
        : domain === "plain.example"
        ? Effect.succeedNone
        : Effect.fail(new SenderNotVerified({ param: "from", domain }))
  })
)

const Subject = BatchMailer.layer.pipe(
  Layer.provide([
    Relay,
    Domains,
    Layer.succeed(DefaultSender, DefaultSender.of({ address: EmailAddress.make("us@default.example") })),
    Layer.succeed(
      UnsubscribeLinks,
      UnsubscribeLinks.of({ urlOf: (id) => `https://m.example/u/${id}`, messageOf: Option.none })
    )
  ])
)

const content = (from: string, html = "Hello {{name}}"): BatchContent => ({
  id: EmailBatchId.make(`email_batch_${"0".repeat(26)}`),
  account_id: AccountId.make(1),
  from_address: EmailAddress.make(from),
  from_name: null,
  subject: "For {{name}}",
  html,
  text: null,
  created_at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
  is_open: true
})

const claimed = (to: string): Claimed => ({
  id: EmailMessageId.make(7),
  recipient: EmailAddress.make(to),
  variables: { name: "Ann" },
  attempt_count: 0
})

/** Opens the batch, mails one recipient, and gives what became of it with what reached the relay. */
const mailed = Effect.fnUntraced(function*(batch: BatchContent, to = "ann@people.example") {
  const { open } = yield* BatchMailer
  const before = sent.length
  const result = yield* (yield* open(batch))(claimed(to))
  return { ...result, messages: sent.slice(before) }
})

layer(Subject)("the mailer of a batch", (it) => {
  it.effect("makes the same bytes each time, so that a repetition is one", () =>
    Effect.gen(function*() {
      const [first, second] = yield* Effect.all([
        mailed(content("us@signed.example")),
        mailed(content("us@signed.example"))
      ])
      assert.deepStrictEqual(first.outcome, { _tag: "Accepted" })
      assert.strictEqual(first.subject, "For Ann")
      const bytes = first.messages[0]?.message ?? Buffer.alloc(0)
      assert.isTrue(bytes.equals(second.messages[0]?.message ?? Buffer.alloc(0)))
      assert.deepStrictEqual(yield* dkimVerdict(bytes), { result: "pass", domain: "signed.example" })
    }))

  it.effect("hands nothing over when the message cannot be signed, or its domain was removed", () =>
    Effect.gen(function*() {
      for (const domain of ["sealed.example", "broken.example", "removed.example"]) {
        const { messages, outcome } = yield* mailed(content(`us@${domain}`))
        assert.strictEqual(outcome._tag, "DkimSigningFailed", domain)
        assert.deepStrictEqual(messages, [])
      }
    }))

  it.effect("sends unsigned from the default sender and from a domain without a key", () =>
    Effect.gen(function*() {
      for (const from of ["us@default.example", "us@plain.example"]) {
        const { messages, outcome } = yield* mailed(content(from))
        assert.strictEqual(outcome._tag, "Accepted", from)
        assert.notInclude(messages[0]?.message.toString() ?? "", "DKIM-Signature")
      }
      assert.strictEqual((yield* mailed(content("them@default.example"))).outcome._tag, "DkimSigningFailed")
    }))

  it.effect("gives a recipient that breaks the program an outcome of its own, and goes on with the next", () =>
    Effect.gen(function*() {
      const crashed = yield* mailed(content("us@plain.example"), "crash@people.example")
      assert.deepStrictEqual(crashed.outcome, { _tag: "Unsendable", reason: "the message could not be made" })
      assert.strictEqual((yield* mailed(content("us@plain.example"))).outcome._tag, "Accepted")
      const unreadable = yield* mailed(content("us@plain.example", "{{ broken"))
      assert.strictEqual(unreadable.outcome._tag, "Unsendable")
    }))
})
