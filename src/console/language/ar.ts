import { attention } from "./ar/attention.ts"
import { batches } from "./ar/batches.ts"
import { deliveries } from "./ar/deliveries.ts"
import { directory } from "./ar/directory.ts"
import { domains } from "./ar/domains.ts"
import { doors } from "./ar/doors.ts"
import { errors } from "./ar/errors.ts"
import { faults } from "./ar/faults.ts"
import { frame } from "./ar/frame.ts"
import { keys } from "./ar/keys.ts"
import { me } from "./ar/me.ts"
import { messages } from "./ar/messages.ts"
import { overview } from "./ar/overview.ts"
import { recoveries } from "./ar/recoveries.ts"
import { requests } from "./ar/requests.ts"
import { sandbox } from "./ar/sandbox.ts"
import { send } from "./ar/send.ts"
import { sessions } from "./ar/sessions.ts"
import { sms } from "./ar/sms.ts"
import { suppressions } from "./ar/suppressions.ts"
import { templates } from "./ar/templates.ts"
import { timeline } from "./ar/timeline.ts"
import { usage } from "./ar/usage.ts"
import { verify } from "./ar/verify.ts"
import { webhooks } from "./ar/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** The console in Arabic. */
export const ar: Texts = {
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
