import { attention } from "./de/attention.ts"
import { batches } from "./de/batches.ts"
import { deliveries } from "./de/deliveries.ts"
import { directory } from "./de/directory.ts"
import { domains } from "./de/domains.ts"
import { doors } from "./de/doors.ts"
import { errors } from "./de/errors.ts"
import { faults } from "./de/faults.ts"
import { frame } from "./de/frame.ts"
import { keys } from "./de/keys.ts"
import { me } from "./de/me.ts"
import { messages } from "./de/messages.ts"
import { overview } from "./de/overview.ts"
import { recoveries } from "./de/recoveries.ts"
import { requests } from "./de/requests.ts"
import { sandbox } from "./de/sandbox.ts"
import { send } from "./de/send.ts"
import { sessions } from "./de/sessions.ts"
import { sms } from "./de/sms.ts"
import { suppressions } from "./de/suppressions.ts"
import { templates } from "./de/templates.ts"
import { timeline } from "./de/timeline.ts"
import { usage } from "./de/usage.ts"
import { verify } from "./de/verify.ts"
import { webhooks } from "./de/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** German. */
export const de: Texts = {
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
