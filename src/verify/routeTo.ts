import { Effect } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { type LineType, phoneFacts } from "../values/PhoneNumber.ts"
import type { Recipient } from "./Recipient.ts"
import type { CodeChannel } from "./Verification.ts"

/** The channels that are tried, in this order: there is always a first one. */
export type Route = readonly [CodeChannel, ...ReadonlyArray<CodeChannel>]

/** Numbers that nobody reads messages on. Those that cost their caller money are what pumping is done with. */
const refusedLines: ReadonlySet<LineType | undefined> = new Set(
  ["premium_rate", "toll_free", "shared_cost", "pager", "company_number", "voicemail"] as const
)

const refused = (message: string) => Effect.fail(ValidationFailed.of("to", message))

/** What a code to this recipient goes by. */
export const routeTo = (
  to: Recipient,
  channel: CodeChannel | "auto"
): Effect.Effect<Route, ValidationFailed> => {
  if (to.kind === "email") {
    return channel === "email" || channel === "auto"
      ? Effect.succeed(["email"])
      : refused(`must be a phone number that begins with +, as channel is ${channel}`)
  }
  if (channel === "email") return refused("must be an email address, as channel is email")
  if (refusedLines.has(phoneFacts(to.address)?.lineType)) {
    return refused("is a kind of number that codes are not sent to")
  }
  return Effect.succeed(channel === "auto" ? ["whatsapp", "sms"] : [channel])
}
