import { Effect, Layer } from "effect"
import { AccountRemoval } from "../accounts/AccountRemoval.ts"
import { accountsErasure, eraseRows, Erasure } from "../accounts/Erasure.ts"
import { apiKeysErasure } from "../api-keys/ApiKeys.ts"
import { emailErasure } from "../channels/email/emailErasure.ts"
import { whatsappErasure } from "../channels/whatsapp/whatsappErasure.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { webhooksErasure } from "../webhooks/webhooksErasure.ts"

/**
 * The steps that erase an account, domain by domain. A domain that creates new rows comes before the domain of those
 * rows. A new domain adds its step here.
 */
export const ErasureSteps = Layer.succeed(Erasure, [
  apiKeysErasure,
  { name: "verify", some: eraseRows("verifications", "verification_blocks") },
  emailErasure,
  whatsappErasure,
  { name: "templates", some: eraseRows("email_templates") },
  { name: "sending domains", some: eraseRows("email_domains") },
  ...webhooksErasure,
  { name: "messages", some: eraseRows("messages", "message_batches") },
  { name: "usage", some: eraseRows("usage_daily", "usage_alerts") },
  accountsErasure
])

/** Erases deleted accounts until none of their rows are left. */
export const AccountErasure = Layer.unwrap(
  Effect.map(AccountRemoval, ({ erase }) => PeriodicTask.make("AccountErasure", "5 seconds", erase))
)
