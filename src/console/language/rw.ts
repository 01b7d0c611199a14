import { attention } from "./rw/attention.ts"
import { batches } from "./rw/batches.ts"
import { deliveries } from "./rw/deliveries.ts"
import { directory } from "./rw/directory.ts"
import { domains } from "./rw/domains.ts"
import { doors } from "./rw/doors.ts"
import { errors } from "./rw/errors.ts"
import { faults } from "./rw/faults.ts"
import { frame } from "./rw/frame.ts"
import { keys } from "./rw/keys.ts"
import { me } from "./rw/me.ts"
import { messages } from "./rw/messages.ts"
import { overview } from "./rw/overview.ts"
import { recoveries } from "./rw/recoveries.ts"
import { requests } from "./rw/requests.ts"
import { sandbox } from "./rw/sandbox.ts"
import { send } from "./rw/send.ts"
import { sessions } from "./rw/sessions.ts"
import { sms } from "./rw/sms.ts"
import { suppressions } from "./rw/suppressions.ts"
import { templates } from "./rw/templates.ts"
import { timeline } from "./rw/timeline.ts"
import { usage } from "./rw/usage.ts"
import { verify } from "./rw/verify.ts"
import { webhooks } from "./rw/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** The console in Kinyarwanda. */
export const rw: Texts = {
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
