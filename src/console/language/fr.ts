import { attention } from "./fr/attention.ts"
import { batches } from "./fr/batches.ts"
import { deliveries } from "./fr/deliveries.ts"
import { directory } from "./fr/directory.ts"
import { domains } from "./fr/domains.ts"
import { doors } from "./fr/doors.ts"
import { errors } from "./fr/errors.ts"
import { faults } from "./fr/faults.ts"
import { frame } from "./fr/frame.ts"
import { keys } from "./fr/keys.ts"
import { me } from "./fr/me.ts"
import { messages } from "./fr/messages.ts"
import { overview } from "./fr/overview.ts"
import { recoveries } from "./fr/recoveries.ts"
import { requests } from "./fr/requests.ts"
import { sandbox } from "./fr/sandbox.ts"
import { send } from "./fr/send.ts"
import { sessions } from "./fr/sessions.ts"
import { sms } from "./fr/sms.ts"
import { suppressions } from "./fr/suppressions.ts"
import { templates } from "./fr/templates.ts"
import { timeline } from "./fr/timeline.ts"
import { usage } from "./fr/usage.ts"
import { verify } from "./fr/verify.ts"
import { webhooks } from "./fr/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** French. */
export const fr: Texts = {
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
