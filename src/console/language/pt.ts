import { attention } from "./pt/attention.ts"
import { batches } from "./pt/batches.ts"
import { deliveries } from "./pt/deliveries.ts"
import { directory } from "./pt/directory.ts"
import { domains } from "./pt/domains.ts"
import { doors } from "./pt/doors.ts"
import { errors } from "./pt/errors.ts"
import { faults } from "./pt/faults.ts"
import { frame } from "./pt/frame.ts"
import { keys } from "./pt/keys.ts"
import { me } from "./pt/me.ts"
import { messages } from "./pt/messages.ts"
import { overview } from "./pt/overview.ts"
import { recoveries } from "./pt/recoveries.ts"
import { requests } from "./pt/requests.ts"
import { sandbox } from "./pt/sandbox.ts"
import { send } from "./pt/send.ts"
import { sessions } from "./pt/sessions.ts"
import { sms } from "./pt/sms.ts"
import { suppressions } from "./pt/suppressions.ts"
import { templates } from "./pt/templates.ts"
import { timeline } from "./pt/timeline.ts"
import { usage } from "./pt/usage.ts"
import { verify } from "./pt/verify.ts"
import { webhooks } from "./pt/webhooks.ts"
import type { Texts } from "./Texts.ts"

/** Portuguese of Brazil. */
export const pt: Texts = {
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
