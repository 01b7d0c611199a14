import { attention } from "./es/attention.ts"
import { batches } from "./es/batches.ts"
import { deliveries } from "./es/deliveries.ts"
import { directory } from "./es/directory.ts"
import { domains } from "./es/domains.ts"
import { doors } from "./es/doors.ts"
import { errors } from "./es/errors.ts"
import { faults } from "./es/faults.ts"
import { frame } from "./es/frame.ts"
import { keys } from "./es/keys.ts"
import { me } from "./es/me.ts"
import { messages } from "./es/messages.ts"
import { overview } from "./es/overview.ts"
import { recoveries } from "./es/recoveries.ts"
import { requests } from "./es/requests.ts"
import { sandbox } from "./es/sandbox.ts"
import { send } from "./es/send.ts"
import { sessions } from "./es/sessions.ts"
import { sms } from "./es/sms.ts"
import { suppressions } from "./es/suppressions.ts"
import { templates } from "./es/templates.ts"
import { timeline } from "./es/timeline.ts"
import { usage } from "./es/usage.ts"
import { verify } from "./es/verify.ts"
import { webhooks } from "./es/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** Spanish. */
export const es: Texts = {
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
