import { Effect, Layer } from "effect"
import { MessageProgress } from "../../src/channels/email/recipients/MessageProgress.ts"
import { RecipientOutcomes } from "../../src/channels/email/recipients/RecipientOutcomes.ts"
import type { SendOutcome } from "../../src/channels/email/recipients/RecipientState.ts"
import { Smtp } from "../../src/channels/email/smtp/Smtp.ts"
import {
  OutcomeUnknown,
  RecipientRefused,
  RelayUnavailable,
  type SendFailure
} from "../../src/channels/email/smtp/SmtpErrors.ts"
import { Suppressions } from "../../src/channels/email/suppressions/Suppressions.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { hasExpired, type QueueRows } from "./ledger.ts"
import type { Verdict } from "./Receiver.ts"
import { RecordedEvents, Settings } from "./services.ts"

/** The failure of a mail transaction in which the relay did this. */
export const failures: Record<Exclude<Verdict, "accepted">, SendFailure> = {
  refused: new RecipientRefused({ stage: "rcpt", permanent: true, code: 554, response: "554 no" }),
  deferred: new RecipientRefused({ stage: "rcpt", permanent: false, code: 450, response: "450 later" }),
  lost: new OutcomeUnknown({ reason: "no answer" }),
  unavailable: new RelayUnavailable({ fault: "reply", reason: "421 later", retryInMillis: 3_000 })
}

/** The outcome of a claim of an address that its account has suppressed. */
export const suppressed: SendOutcome = { _tag: "Suppressed" }

export const outcomeOf = (verdict: Verdict): SendOutcome =>
  verdict === "accepted" ? { _tag: "Accepted" } : failures[verdict]

const unused = Effect.die(new Error("the simulation sends mail elsewhere"))

/** A relay that is always there. The mailers of the simulation do not use it to send. */
export const OpenRelay = Layer.succeed(
  Smtp,
  Smtp.of({
    send: () => unused,
    admission: () => Effect.succeed({ _tag: "Pass" }),
    paused: Effect.succeed(new Set()),
    verify: unused,
    capabilities: unused
  })
)

export const Outcomes = Layer.merge(RecipientOutcomes.layer, MessageProgress.layer).pipe(
  Layer.provide([RecordedEvents, Settings, Suppressions.layer, Usage.layer])
)

export const mailOf = (id: unknown) => `mail ${id}`

const finals = ["sent", "bounced", "failed", "suppressed", "canceled"]

/** The recipients of single emails and of batches, whose leases last for so many milliseconds. */
export const recipientRows = (leaseTimeout: number): QueueRows => ({
  relation: "email_messages",
  all: "select to_jsonb(m) as row from email_messages m",
  itemOf: ({ id }) => mailOf(id),
  claimOf: ({ claims, status }) => status === "sending" ? claims : undefined,
  mayReclaim: hasExpired(leaseTimeout, "attempt_count"),
  isFinal: ({ status }) => finals.includes(String(status)),
  isSent: ({ status }) => status === "sent"
})
