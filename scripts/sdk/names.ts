/**
 * Where the SDKs have each operation of the contract. An operation without a row is at its own id: `messages.list` is
 * `client.messages.list`. Python writes the names with underscores: `sendBulk` is `send_bulk`.
 */

/** Groups of the contract that are not at their own id. */
export const groups: Readonly<Record<string, string>> = {
  apiKeys: "apiKeys",
  bulkEmail: "email",
  emailDomains: "email.domains",
  failovers: "messages",
  emailMessages: "email",
  pricing: "sms",
  suppressions: "email.suppressions",
  templates: "email.templates",
  whatsappContacts: "whatsapp.contacts",
  whatsappGroups: "whatsapp.groups",
  whatsappMedia: "whatsapp",
  whatsappMessages: "whatsapp",
  whatsappSessions: "whatsapp.sessions"
}

/** Operations whose own name is the usual one elsewhere. */
export const verbs: Readonly<Record<string, string>> = {
  add: "create",
  change: "update",
  find: "get",
  read: "get",
  remove: "delete"
}

/** Operations that are at another place than their group's. */
export const places: Readonly<Record<string, string>> = {
  "account.profile": "account.updateProfile",
  "account.password": "account.changePassword",
  "account.notifications": "account.notifications.get",
  "account.changeNotifications": "account.notifications.update",
  "account.sessions": "account.logins.list",
  "account.endSession": "account.logins.end",
  "account.endSessions": "account.logins.endAll",
  "auth.forgot": "auth.forgotPassword",
  "auth.reset": "auth.resetPassword",
  "auth.askConfirmation": "auth.sendConfirmation",
  "bulkEmail.batches": "email.batches.list",
  "bulkEmail.batch": "email.batches.get",
  "bulkEmail.recipients": "email.batches.recipients",
  "bulkEmail.resend": "email.batches.resend",
  "bulkEmail.cancel": "email.batches.cancel",
  "bulkEmail.reschedule": "email.batches.reschedule",
  "pricing.list": "sms.pricing",
  "sms.batches": "sms.batches.list",
  "sms.batch": "sms.batches.get",
  "sms.resend": "sms.batches.resend",
  "sms.cancel": "sms.batches.cancel",
  "sms.cancelOne": "sms.cancel",
  "sms.rescheduleBatch": "sms.batches.reschedule",
  "suppressions.addMany": "email.suppressions.createMany",
  "templates.restore": "email.templates.versions.restore",
  "templates.version": "email.templates.versions.get",
  "templates.versions": "email.templates.versions.list",
  "whatsappMedia.fetch": "whatsapp.media",
  "whatsappMessages.batches": "whatsapp.batches.list",
  "whatsappMessages.batch": "whatsapp.batches.get",
  "whatsappMessages.resend": "whatsapp.batches.resend",
  "whatsappMessages.cancel": "whatsapp.batches.cancel",
  "whatsappMessages.cancelOne": "whatsapp.cancel",
  "whatsappMessages.figures": "whatsapp.sessions.figures",
  "whatsappMessages.rescheduleBatch": "whatsapp.batches.reschedule",
  "webhooks.deliveries": "webhooks.deliveries.list",
  "webhooks.delivery": "webhooks.deliveries.get",
  "webhooks.redeliver": "webhooks.deliveries.redeliver"
}

/** Operations that the SDKs leave out, each with the method that does the same. */
export const aliases: Readonly<Record<string, string>> = {
  "emailMessages.history": "email.list",
  "emailMessages.status": "email.get",
  "sms.status": "sms.get"
}
