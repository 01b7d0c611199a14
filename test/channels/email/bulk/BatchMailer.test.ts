import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted } from "effect"
import type { BatchContent, Claimed } from "../../../../src/channels/email/bulk/BatchesRepo.ts"
import { BatchMailer } from "../../../../src/channels/email/bulk/BatchMailer.ts"
import { DueChecks } from "../../../../src/channels/email/recipients/DueChecks.ts"
import { ReturnPaths } from "../../../../src/channels/email/reports/ReturnPaths.ts"
import { DefaultSender } from "../../../../src/channels/email/request/DefaultSender.ts"
import { Smtp, type SmtpMail } from "../../../../src/channels/email/smtp/Smtp.ts"
import { UnsubscribeLinks } from "../../../../src/channels/email/suppressions/Unsubscribe.ts"
import { TrackingLinks } from "../../../../src/channels/email/tracking/TrackingLinks.ts"
import { SenderNotVerified } from "../../../../src/email-domains/EmailDomain.ts"
import { EmailDomains } from "../../../../src/email-domains/EmailDomains.ts"
import { obstacles } from "../../../../src/messages/scheduledRows.ts"
import { SealBroken } from "../../../../src/platform/crypto/Vault.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"
import { AccountId, EmailBatchId, EmailMessageId } from "../../../../src/values/Ids.ts"
import { noLabels } from "../../../../src/values/Labels.ts"
import { Timestamp } from "../../../../src/values/Timestamp.ts"
import { dkimKey, dkimVerdict, readMail } from "../../../support/bulkMail.ts"

const sent: Array<SmtpMail> = []

let obstacle: string | undefined

/** Mails that the relay does not answer. */
let unanswered = 0

/** A relay that accepts all mail, but dies with a defect for recipients named `crash`, and does not answer for `hang`. */
const Relay = Layer.succeed(
  Smtp,
  Smtp.of({
    send: (mail) =>
      Effect.sync(() => {
        if (mail.envelope.to.startsWith("crash")) throw new Error("a defect")
        if (mail.envelope.to.startsWith("hang")) return false
        sent.push(mail)
        return true
      }).pipe(
        Effect.flatMap((answers) => {
          if (answers) return Effect.succeed({ response: "250 ok" })
          unanswered++
          return Effect.ensuring(Effect.never, Effect.sync(() => void unanswered--))
        })
      ),
    admission: () => Effect.succeed({ _tag: "Pass" }),
    paused: Effect.succeed(new Set()),
    verify: Effect.never,
    capabilities: Effect.never
  })
)

const domain = { track_opens: false, track_clicks: false, warnings: [] }

const Domains = Layer.succeed(
  EmailDomains,
  EmailDomains.of({
    requireVerified: () => Effect.succeed(domain),
    ofSender: () => Effect.succeed(domain),
    verifiedKey: () => Effect.succeedNone,
    dkimKey: (_, domain) =>
      domain === "signed.example"
        ? Effect.succeedSome(Redacted.make(dkimKey.pem))
        : domain === "sealed.example"
        ? Effect.fail(new SealBroken({ what: "key", reason: "altered" }))
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
    Layer.succeed(DueChecks, DueChecks.of({ obstacle: () => Effect.sync(() => obstacle) })),
    Layer.succeed(DefaultSender, DefaultSender.of({ address: EmailAddress.make("us@default.example") })),
    Layer.succeed(
      ReturnPaths,
      ReturnPaths.of({
        domain: "bounces.example",
        envelopeOf: (id, { to }) => ({ from: `b+${id}@bounces.example`, to }),
        unsubscribeMailto: (id) => `u+${id}@bounces.example?subject=unsubscribe`,
        tokenOf: (id) => `token-${id}`,
        messageOf: Option.none,
        read: Option.none
      })
    ),
    Layer.succeed(
      TrackingLinks,
      TrackingLinks.of({
        urlsOf: (id, targets) => ({
          open: `https://m.example/t/o/${id}.gif`,
          clicks: Array.from({ length: targets }, (_, link) => `https://m.example/t/c/${id}-${link}?a&b`)
        }),
        readOpen: Option.none,
        readClick: Option.none
      })
    ),
    Layer.succeed(
      UnsubscribeLinks,
      UnsubscribeLinks.of({ urlOf: (id) => `https://m.example/u/${id}`, messageOf: Option.none })
    )
  ])
)

const content = (from: string, html = "Hello {{name}}"): BatchContent => ({
  id: EmailBatchId.make(`email_batch_${"0".repeat(26)}`),
  account_id: AccountId.make(1),
  ...noLabels,
  headers: null,
  send_at: null,
  from_address: EmailAddress.make(from),
  from_name: null,
  subject: "For {{name}}",
  html,
  text: null,
  created_at: Timestamp.make("2030-01-31T09:00:00.000000Z"),
  is_open: true,
  track_opens: false,
  links: []
})

const claimed = (to: string): Claimed => ({
  id: EmailMessageId.make(7),
  recipient: EmailAddress.make(to),
  variables: { name: "Ann" },
  attempt_count: 0,
  claim_number: 1,
  is_suppressed: false,
  unconfirmed_attempts: 0
})

/** Opens the batch, mails one recipient, and returns the outcome with the messages that reached the relay. */
const mailed = Effect.fnUntraced(function*(batch: BatchContent, to = "ann@people.example") {
  const { open } = yield* BatchMailer
  const before = sent.length
  const result = yield* (yield* open(batch))(claimed(to), { begin: () => true, isHeld: () => true })
  return { ...result, messages: sent.slice(before) }
})

layer(Subject)("BatchMailer", (it) => {
  it.effect("composes the same bytes for every repetition", () =>
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

  it.effect("uses a return path per message and leaves From unchanged", () =>
    Effect.gen(function*() {
      const [message] = (yield* mailed(content("us@plain.example"))).messages
      assert.deepStrictEqual(message?.envelope, { from: "b+7@bounces.example", to: "ann@people.example" })
      assert.match(message?.message.toString() ?? "", /^From: us@plain\.example\r\n/m)
      assert.match(message?.message.toString() ?? "", /^Message-ID: <token-7\.0{26}@plain\.example>\r\n/m)
    }))

  it.effect("sends nothing if the message cannot be signed or its domain was removed", () =>
    Effect.gen(function*() {
      for (const domain of ["sealed.example", "broken.example", "removed.example"]) {
        const { messages, outcome } = yield* mailed(content(`us@${domain}`))
        assert.strictEqual(outcome._tag, "DkimSigningFailed", domain)
        assert.deepStrictEqual(messages, [])
      }
    }))

  it.effect("sends unsigned mail from the default sender and from a domain without a key", () =>
    Effect.gen(function*() {
      for (const from of ["us@default.example", "us@plain.example"]) {
        const { messages, outcome } = yield* mailed(content(from))
        assert.strictEqual(outcome._tag, "Accepted", from)
        assert.notInclude(messages[0]?.message.toString() ?? "", "DKIM-Signature")
      }
      assert.strictEqual((yield* mailed(content("them@default.example"))).outcome._tag, "DkimSigningFailed")
    }))

  it.effect("turns a defect into the outcome of its recipient and continues with the next", () =>
    Effect.gen(function*() {
      const crashed = yield* mailed(content("us@plain.example"), "crash@people.example")
      assert.deepStrictEqual(crashed.outcome, { _tag: "Unsendable", reason: "the message could not be composed" })
      assert.strictEqual((yield* mailed(content("us@plain.example"))).outcome._tag, "Accepted")
      const unreadable = yield* mailed(content("us@plain.example", "{{ broken"))
      assert.strictEqual(unreadable.outcome._tag, "Unsendable")
    }))

  it.effect("adds tracking before signing, only to the HTML and only as the batch requests", () =>
    Effect.gen(function*() {
      const html = "<body><a href='https://x.example/?a&amp;b'>{{name}}</a></body>"
      const plain = (yield* mailed(content("us@signed.example", html))).messages[0]?.message ?? Buffer.alloc(0)
      assert.include(
        (yield* readMail(plain)).mail.html ?? "",
        "<body><a href='https://x.example/?a&amp;b'>Ann</a></body>"
      )
      const wanted = { track_opens: true, links: ["https://x.example/?a&b"] }
      const { messages } = yield* mailed({ ...content("us@signed.example", html), ...wanted })
      const message = messages[0]?.message ?? Buffer.alloc(0)
      const { mail } = yield* readMail(message)
      assert.include(
        mail.html ?? "",
        "<body><a href='https://m.example/t/c/7-0?a&amp;b'>Ann</a><img src=\"https://m.example/t/o/7.gif\""
      )
      assert.include(mail.text ?? "", "https://x.example/?a&b")
      assert.deepStrictEqual(yield* dkimVerdict(message), { result: "pass", domain: "signed.example" })
    }))
  it.effect("an obstacle hinders the first attempt, and later ones only if the account was deleted", () =>
    Effect.gen(function*() {
      const { open } = yield* BatchMailer
      const outcomes: Array<string> = []
      for (const reason of [obstacles.subscription_expired, obstacles.account_deleted]) {
        obstacle = reason
        const mail = yield* open(content("us@plain.example"))
        for (const attempt_count of [0, 1]) {
          const recipient = { ...claimed("ann@people.example"), attempt_count }
          outcomes.push((yield* mail(recipient, { begin: () => true, isHeld: () => true })).outcome._tag)
        }
      }
      obstacle = undefined
      assert.deepStrictEqual(outcomes, ["Unsendable", "Accepted", "Unsendable", "Unsendable"])
    }))
  it.effect("composes large mails only as far as memory allows, with room for other accounts, and small ones at once", () =>
    Effect.gen(function*() {
      const { open } = yield* BatchMailer
      const large = content("us@plain.example", "x".repeat(1_000_000))
      const mail = (batch: BatchContent, to: string) =>
        Effect.flatMap(open(batch), (mailOne) => mailOne(claimed(to), { begin: () => true, isHeld: () => true }))
      /** Begins 20 mails that get no answer, and returns how many the relay has got by then. */
      const begin = Effect.fnUntraced(function*(account: number) {
        const each = mail({ ...large, account_id: AccountId.make(account) }, "hang@people.example")
        const fibers = yield* Effect.forEach(Array.from({ length: 20 }), () => Effect.forkChild(each))
        yield* Effect.replicateEffect(Effect.yieldNow, 200, { discard: true })
        return { fibers, unanswered }
      })
      const first = yield* begin(1)
      const second = yield* begin(2)
      const third = yield* begin(3)
      assert.deepStrictEqual([first, second, third].map(({ unanswered }) => unanswered), [16, 32, 33])
      assert.strictEqual((yield* mail(content("us@plain.example"), "ann@people.example")).outcome._tag, "Accepted")
      yield* Fiber.interruptAll([...first.fibers, ...second.fibers, ...third.fibers])
      assert.strictEqual((yield* mail(large, "ann@people.example")).outcome._tag, "Accepted")
    }))
})
