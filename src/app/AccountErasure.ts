import { Effect, Layer } from "effect"
import { AccountRemoval } from "../accounts/AccountRemoval.ts"
import { accountsErasure, Erasure } from "../accounts/Erasure.ts"
import { apiKeysErasure } from "../api-keys/apiKeysErasure.ts"
import { emailErasure } from "../channels/email/emailErasure.ts"
import { whatsappErasure } from "../channels/whatsapp/whatsappErasure.ts"
import { emailDomainsErasure } from "../email-domains/emailDomainsErasure.ts"
import { messagesErasure } from "../messages/messagesErasure.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { templatesErasure } from "../templates/templatesErasure.ts"
import { usageErasure } from "../usage/usageErasure.ts"
import { verifyErasure } from "../verify/verifyErasure.ts"
import { webhooksErasure } from "../webhooks/webhooksErasure.ts"

/** How an account is forgotten, domain by domain: what makes new rows goes before them. A new domain is one line here. */
export const ErasureSteps = Layer.succeed(Erasure, [
  apiKeysErasure,
  verifyErasure,
  emailErasure,
  whatsappErasure,
  templatesErasure,
  emailDomainsErasure,
  ...webhooksErasure,
  messagesErasure,
  usageErasure,
  accountsErasure
])

/** Erases deleted accounts, until nothing is left of them. */
export const AccountErasure = Layer.unwrap(
  Effect.map(AccountRemoval, ({ erase }) => PeriodicTask.make("AccountErasure", "5 seconds", erase))
)
