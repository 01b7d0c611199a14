import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeFs from "node:fs"
import { transition } from "../../src/channels/sms/parts/PartState.ts"
import * as MessageFailures from "../../src/channels/whatsapp/outbox/MessageFailures.ts"
import { explain, type Hold, type MessageFacts } from "../../src/messages/Explanation.ts"
import { AnyStatus, SummaryChannel } from "../../src/messages/MessageSummary.ts"
import { obstacles } from "../../src/messages/scheduledRows.ts"
import { DownloadFailed } from "../../src/platform/net/PublicDownload.ts"

const facts: MessageFacts = { channel: "email", status: "sent", errorCode: null, error: null, bounceType: null }

const Facts = Schema.Struct({
  channel: SummaryChannel,
  status: AnyStatus,
  errorCode: Schema.NullOr(Schema.String),
  error: Schema.NullOr(Schema.String),
  bounceType: Schema.NullOr(Schema.Literals(["hard", "soft"]))
})

describe("the explanation of a message", () => {
  it.prop("exists for every record, and repeats only words that the record has", [Facts], ([given]) => {
    const { code, reason } = explain(given, null)
    assert.match(code, /^[a-z_]+$/)
    assert.include([null, given.error], reason)
    assert.notStrictEqual(reason, "")
  })

  it.prop("is the status of a message that arrived or was canceled", [Facts], ([given]) => {
    const { code } = explain(given, null)
    if (["delivered", "opened", "clicked", "read", "received", "canceled"].includes(given.status)) {
      assert.strictEqual(code, given.status)
    }
  })

  it("tells a message that was not tried from one whose attempt failed", () => {
    assert.strictEqual(explain({ ...facts, status: "queued" }, null).code, "waits")
    assert.deepInclude(explain({ ...facts, status: "queued", error: "452 4.2.2 Mailbox full" }, null), {
      code: "deferred",
      reason: "452 4.2.2 Mailbox full"
    })
  })

  it("says of a queued message, and of no other, what it waits for", () => {
    const of = (status: AnyStatus, hold: Hold) => explain({ ...facts, status }, hold).code
    const holds: ReadonlyArray<NonNullable<Hold>> = [
      "relay_away",
      "carrier_away",
      "session_pending",
      "session_failed",
      "session_disconnected",
      "paced"
    ]
    for (const hold of holds) {
      assert.deepStrictEqual([of("queued", hold), of("sent", hold), of("scheduled", hold)], [
        hold,
        "accepted",
        "scheduled"
      ])
    }
  })

  it("tells a refusal for good from one that took too long", () => {
    assert.strictEqual(explain({ ...facts, status: "bounced", bounceType: "hard" }, null).code, "bounced")
    assert.strictEqual(explain({ ...facts, status: "bounced", bounceType: "soft" }, null).code, "refused_for_now")
  })

  const failed = (errorCode: string | null, error: string | null = null) =>
    explain({ ...facts, status: "failed", errorCode, error }, null)

  it("takes the codes of providers for a refusal of the other side, in its words", () => {
    for (const code of ["463", "smpp_8", "http_400", "rejected", "invalid_destination", "", null]) {
      assert.deepInclude(failed(code, "No."), { code: "refused", reason: "No.", isQuoted: true, fix: "again" })
    }
    assert.deepInclude(failed("undeliverable", "UNDELIV"), { code: "undelivered", isQuoted: true })
  })

  const unavailable = { _tag: "Unavailable", reason: "down", retryInMillis: 1 } as const
  const part = { attempt_count: 1, unconfirmed_attempts: 1, ageMillis: Number.POSITIVE_INFINITY }
  const ownCodes = [
    ...Object.keys(obstacles),
    ...Object.values(MessageFailures).flatMap((one) => typeof one === "function" ? [] : [one.code]),
    ...DownloadFailed.fields.reason.literals.map((reason) => MessageFailures.mediaFailed(reason, "gone").code),
    transition(part, unavailable).error_code,
    transition(part, { _tag: "Unconfirmed", reason: "silence" }).error_code
  ]

  it.for(ownCodes)(
    "never says of the service's own code %s that the other side refused it or said something",
    (code) => {
      assert.notStrictEqual(failed(code).code, "refused")
      assert.isFalse(failed(code, "Our words.").isQuoted)
    }
  )

  it("knows each code that the source gives a message or its part", () => {
    const folders = ["channels", "messages", "app"].map((name) => new URL(`../../src/${name}/`, import.meta.url))
    const files = folders.flatMap((folder) =>
      NodeFs.readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".ts")).map((name) => NodeFs.readFileSync(new URL(name, folder), "utf8"))
    )
    const given = files.flatMap((text) =>
      [...text.matchAll(/error_code(?:: | = (?:case [^']*then )?)["']([a-z_]+)["']/g)].map(([, code = ""]) => code)
    )
    // A carrier reports the first. Parts have the others once their message has ended with its own code or status.
    const others = ["undeliverable", "canceled", "message_failed"]
    assert.sameMembers([...new Set(given)].filter((code) => !ownCodes.includes(code)), others)
  })

  it.for<[string, Partial<MessageFacts>, string | null]>([
    ["suppressed", { status: "suppressed" }, "unsuppress"],
    ["bounced", { status: "bounced" }, "again"],
    ["not on WhatsApp", { status: "failed", errorCode: "recipient_not_on_whatsapp" }, "as_sms"],
    ["of an unverified domain", { status: "failed", errorCode: "sender_not_verified" }, "domain"],
    ["after the trial", { status: "failed", errorCode: "subscription_expired" }, "usage"],
    ["of a logged out session", { status: "failed", errorCode: "session_logged_out" }, "session"],
    ["that may have arrived", { status: "failed", errorCode: "outcome_unknown" }, null],
    ["that arrived", { status: "delivered" }, null]
  ])(
    "names what mends a message %s",
    ([, given, fix]) => assert.strictEqual(explain({ ...facts, ...given }, null).fix, fix)
  )
})
