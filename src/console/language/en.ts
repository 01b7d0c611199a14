import { attention } from "./en/attention.ts"
import { batches } from "./en/batches.ts"
import { deliveries } from "./en/deliveries.ts"
import { directory } from "./en/directory.ts"
import { domains } from "./en/domains.ts"
import { doors } from "./en/doors.ts"
import { errors } from "./en/errors.ts"
import { faults } from "./en/faults.ts"
import { frame } from "./en/frame.ts"
import { keys } from "./en/keys.ts"
import { me } from "./en/me.ts"
import { messages } from "./en/messages.ts"
import { overview } from "./en/overview.ts"
import { recoveries } from "./en/recoveries.ts"
import { requests } from "./en/requests.ts"
import { sandbox } from "./en/sandbox.ts"
import { send } from "./en/send.ts"
import { sessions } from "./en/sessions.ts"
import { sms } from "./en/sms.ts"
import { suppressions } from "./en/suppressions.ts"
import { templates } from "./en/templates.ts"
import { timeline } from "./en/timeline.ts"
import { usage } from "./en/usage.ts"
import { verify } from "./en/verify.ts"
import { webhooks } from "./en/webhooks.ts"

/**
 * Every text of the console, a file for each topic. The keys and their arguments are the type of all languages.
 */
export const en = {
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
} as const
