import { attention } from "./sw/attention.ts"
import { batches } from "./sw/batches.ts"
import { deliveries } from "./sw/deliveries.ts"
import { directory } from "./sw/directory.ts"
import { domains } from "./sw/domains.ts"
import { doors } from "./sw/doors.ts"
import { errors } from "./sw/errors.ts"
import { faults } from "./sw/faults.ts"
import { frame } from "./sw/frame.ts"
import { keys } from "./sw/keys.ts"
import { me } from "./sw/me.ts"
import { messages } from "./sw/messages.ts"
import { overview } from "./sw/overview.ts"
import { recoveries } from "./sw/recoveries.ts"
import { requests } from "./sw/requests.ts"
import { sandbox } from "./sw/sandbox.ts"
import { send } from "./sw/send.ts"
import { sessions } from "./sw/sessions.ts"
import { sms } from "./sw/sms.ts"
import { suppressions } from "./sw/suppressions.ts"
import { templates } from "./sw/templates.ts"
import { timeline } from "./sw/timeline.ts"
import { usage } from "./sw/usage.ts"
import { verify } from "./sw/verify.ts"
import { webhooks } from "./sw/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** The console in Swahili. */
export const sw: Texts = {
  ...frame,
  ...errors,
  ...faults,
  ...doors,
  ...overview,
  ...messages,
  ...timeline,
  ...send,
  ...attention,
  ...batches,
  ...templates,
  ...domains,
  ...suppressions,
  ...sms,
  ...sessions,
  ...verify,
  ...usage,
  ...directory,
  ...webhooks,
  ...deliveries,
  ...recoveries,
  ...keys,
  ...requests,
  ...me,
  ...sandbox
}
