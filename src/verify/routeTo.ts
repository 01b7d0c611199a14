import { Effect } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { type LineType, phoneFacts } from "../values/PhoneNumber.ts"
import type { Recipient } from "./Recipient.ts"
import type { CodeChannel } from "./Verification.ts"

/** The channels to try, in order. */
export type Route = readonly [CodeChannel, ...ReadonlyArray<CodeChannel>]

/** Lines that receive no messages, or that charge callers and are used for SMS pumping. */
const refusedLines: ReadonlySet<LineType | undefined> = new Set(
  ["premium_rate", "toll_free", "shared_cost", "pager", "company_number", "voicemail"] as const
)

const refused = (message: string) => Effect.fail(ValidationFailed.of("to", message))

/** The channels for a code to this recipient: SMS, unless the request names one. */
export const routeTo = (
  to: Recipient,
  asked: CodeChannel | "auto" | undefined
): Effect.Effect<Route, ValidationFailed> => {
  const channel = asked ?? "sms"
  if (to.kind === "email") {
    if (channel === "email" || channel === "auto") return Effect.succeed(["email"])
    const reason = asked === undefined ? "channel is sms unless you give email or auto" : `channel is ${channel}`
    return refused(`must be a phone number, because ${reason}`)
  }
  if (channel === "email") return refused("must be an email address, because channel is email")
  if (refusedLines.has(phoneFacts(to.address)?.lineType)) {
    return refused("is a type of number that receives no codes")
  }
  return Effect.succeed(channel === "auto" ? ["whatsapp", "sms"] : [channel])
}
