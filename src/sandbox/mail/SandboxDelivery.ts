import { Context, Effect, Layer } from "effect"
import { readMessageId } from "./readMail.ts"
import { type ReceivedMail, SandboxInbox } from "./SandboxInbox.ts"
import { SandboxReports } from "./SandboxReports.ts"
import { type Refusal, refusalOf } from "./specialAddresses.ts"

/** How many deferred messages this process remembers: as many as the inbox can hold. */
const maxDeferred = 10_000

/** The mail servers behind the sandbox: they refuse, accept and report as the recipient's address says. */
export class SandboxDelivery extends Context.Service<SandboxDelivery, {
  /** Stores a message and requests its reports. Returns the refusal instead, if a recipient is special. */
  readonly deliver: (mail: ReceivedMail) => Effect.Effect<Refusal | undefined>
}>()("messaging-service/sandbox/mail/SandboxDelivery") {
  static readonly layer = Layer.effect(
    SandboxDelivery,
    Effect.gen(function*() {
      const inbox = yield* SandboxInbox
      const reports = yield* SandboxReports
      const deferred = new Set<string>()
      const isFirst = (key: string) => {
        if (deferred.has(key)) return false
        if (deferred.size >= maxDeferred) deferred.clear()
        deferred.add(key)
        return true
      }

      const deliver = Effect.fn("SandboxDelivery.deliver")(function*(mail: ReceivedMail) {
        for (const recipient of mail.recipients) {
          const refusal = refusalOf(recipient)
          if (refusal === undefined) continue
          if (refusal.at !== "once" || isFirst(`${recipient} ${yield* readMessageId(mail.raw)}`)) return refusal
        }
        yield* inbox.add(mail)
        yield* reports.request(mail)
        return undefined
      })
      return SandboxDelivery.of({ deliver })
    })
  )
}
