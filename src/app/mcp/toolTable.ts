/** How a tool differs from the endpoint that it calls. */
export interface ToolRow {
  /** The endpoint, as the OpenAPI document names it. */
  readonly operation: string
  readonly title: string
  /** Stands before the endpoint's own description: what a call does in the world, and what it costs. */
  readonly note?: string
}

const sendsMail =
  "SENDS REAL EMAIL to every address at once, and cannot be undone. Each recipient counts against the account's monthly quota of email."
const sendsSms =
  "SENDS A REAL SMS, cannot be undone, and COSTS MONEY: the price of the recipient's country for each segment. sms_preview tells it before; the answer has segments and cost_usd."
const sendsWhatsApp =
  "SENDS A REAL WHATSAPP MESSAGE from the paired phone number, and cannot be undone. It costs no money, but too many messages to strangers make WhatsApp block the number. It needs a connected session: whatsapp_sessions_list."
const sendsCode =
  "SENDS A ONE-TIME CODE to a real phone or mailbox. By SMS it costs money, as an SMS does. It counts against the account's quota of codes. Send a code only to a person who waits for it."

/** The tools by name. A new one is a row: its arguments and its access are those of the endpoint. */
export const toolTable: Readonly<Record<string, ToolRow>> = {
  messages_search: { operation: "GET /v1/messages", title: "Search the messages of all channels" },
  requests_list: { operation: "GET /v1/requests", title: "List requests, and why they were refused" },
  request_get: { operation: "GET /v1/requests/{request_id}", title: "Read what a request did" },
  email_send: { operation: "POST /v1/email/send", title: "Send an email", note: sendsMail },
  email_list: { operation: "GET /v1/email/messages", title: "List emails" },
  email_status: { operation: "GET /v1/email/messages/{id}", title: "Read an email's status" },
  email_timeline: { operation: "GET /v1/email/messages/{id}/timeline", title: "Read what happened to an email" },
  email_content_get: { operation: "GET /v1/email/messages/{id}/content", title: "Read what an email says" },
  email_suppressions_list: { operation: "GET /v1/email/suppressions", title: "List suppressed addresses" },
  email_suppression_get: {
    operation: "GET /v1/email/suppressions/{email}",
    title: "Read why an address is suppressed"
  },
  email_suppression_add: {
    operation: "POST /v1/email/suppressions",
    title: "Suppress an address",
    note: "From then on the account sends this address no email."
  },
  email_suppression_remove: {
    operation: "DELETE /v1/email/suppressions/{email}",
    title: "Delete a suppression",
    note: "Only if the person asked for it: mail to someone who unsubscribed harms the sender's reputation."
  },
  email_templates_list: { operation: "GET /v1/email/templates", title: "List email templates" },
  email_template_get: { operation: "GET /v1/email/templates/{template_id}", title: "Read an email template" },
  email_template_create: { operation: "POST /v1/email/templates", title: "Create an email template" },
  email_template_update: { operation: "PUT /v1/email/templates/{template_id}", title: "Change an email template" },
  email_template_delete: { operation: "DELETE /v1/email/templates/{template_id}", title: "Delete an email template" },
  email_template_versions_list: {
    operation: "GET /v1/email/templates/{template_id}/versions",
    title: "List the versions that a template had before"
  },
  email_template_version_get: {
    operation: "GET /v1/email/templates/{template_id}/versions/{version_id}",
    title: "Read a version of a template"
  },
  email_template_version_restore: {
    operation: "POST /v1/email/templates/{template_id}/versions/{version_id}/restore",
    title: "Give a template the texts of a version"
  },
  email_domains_list: { operation: "GET /v1/email/domains", title: "List sending domains" },
  email_domain_get: { operation: "GET /v1/email/domains/{id}", title: "Read a sending domain with its DNS records" },
  email_domain_add: { operation: "POST /v1/email/domains", title: "Add a sending domain" },
  email_domain_verify: { operation: "POST /v1/email/domains/{id}/verify", title: "Check a domain's DNS records" },
  sms_send: { operation: "POST /v1/sms/send", title: "Send an SMS", note: sendsSms },
  sms_preview: { operation: "POST /v1/sms/preview", title: "Read what an SMS would cost" },
  sms_list: { operation: "GET /v1/sms/messages", title: "List SMS" },
  sms_status: { operation: "GET /v1/sms/messages/{id}", title: "Read an SMS's status" },
  sms_timeline: { operation: "GET /v1/sms/messages/{id}/timeline", title: "Read what happened to an SMS" },
  sms_link: { operation: "GET /v1/sms/link", title: "Read the state of the link to the SMS carrier" },
  sms_statistics: { operation: "GET /v1/sms/statistics", title: "Read how many SMS were delivered, by country" },
  sms_prices: { operation: "GET /v1/sms/pricing", title: "Read the prices of SMS" },
  phone_validate: { operation: "GET /v1/phone/validate", title: "Check a phone number's form and country" },
  code_send: { operation: "POST /v1/verify/send", title: "Send a one-time code", note: sendsCode },
  code_check: { operation: "POST /v1/verify/check", title: "Check a one-time code" },
  code_status: { operation: "GET /v1/verify/status/{verification_id}", title: "Read a one-time code's status" },
  codes_statistics: { operation: "GET /v1/verify/statistics", title: "Read the figures of one-time codes" },
  codes_list: { operation: "GET /v1/verify/status", title: "List one-time codes" },
  code_timeline: {
    operation: "GET /v1/verify/status/{verification_id}/timeline",
    title: "Read what happened to a one-time code"
  },
  whatsapp_send: { operation: "POST /v1/whatsapp/send", title: "Send a WhatsApp message", note: sendsWhatsApp },
  whatsapp_list: { operation: "GET /v1/whatsapp/messages", title: "List WhatsApp messages, sent and received" },
  whatsapp_status: { operation: "GET /v1/whatsapp/messages/{id}", title: "Read a WhatsApp message's status" },
  whatsapp_timeline: {
    operation: "GET /v1/whatsapp/messages/{id}/timeline",
    title: "Read what happened to a WhatsApp message"
  },
  whatsapp_sessions_list: { operation: "GET /v1/whatsapp/sessions", title: "List WhatsApp sessions" },
  whatsapp_session_create: {
    operation: "POST /v1/whatsapp/sessions",
    title: "Create a WhatsApp session",
    note: "The answer has the QR code as an image. A person scans it under Linked devices in WhatsApp."
  },
  whatsapp_session_get: { operation: "GET /v1/whatsapp/sessions/{id}", title: "Read a WhatsApp session's state" },
  whatsapp_session_figures: {
    operation: "GET /v1/whatsapp/sessions/{id}/figures",
    title: "Read what a WhatsApp session has sent lately, and what waits"
  },
  whatsapp_session_states: {
    operation: "GET /v1/whatsapp/sessions/{id}/states",
    title: "List the states that a WhatsApp session had"
  },
  whatsapp_session_qr: {
    operation: "GET /v1/whatsapp/sessions/{id}/qr",
    title: "Read a session's QR code",
    note: "The answer has the QR code as an image. A person scans it under Linked devices in WhatsApp."
  },
  whatsapp_session_reconnect: {
    operation: "POST /v1/whatsapp/sessions/{id}/reconnect",
    title: "Reconnect a WhatsApp session"
  },
  whatsapp_session_delete: {
    operation: "DELETE /v1/whatsapp/sessions/{id}",
    title: "Delete a WhatsApp session",
    note: "Logs the phone number out. Pairing it again needs its owner."
  },
  whatsapp_contact_check: {
    operation: "GET /v1/whatsapp/contacts/{phone}/check",
    title: "Check whether a number uses WhatsApp"
  },
  sandbox_messages_list: { operation: "GET /v1/sandbox/messages", title: "List what this test key has sent" },
  sandbox_receiver_get: { operation: "GET /v1/sandbox/receiver", title: "Read the sandbox's webhook receiver" },
  sandbox_receiver_fail: {
    operation: "PUT /v1/sandbox/receiver",
    title: "Make the sandbox's webhook receiver fail, or work again"
  },
  sandbox_faults_list: { operation: "GET /v1/sandbox/faults", title: "List the faults planned for test messages" },
  sandbox_fault_plan: { operation: "POST /v1/sandbox/faults", title: "Make the next test message fail" },
  usage_get: { operation: "GET /v1/account/usage", title: "Read the usage and its cost" },
  messages_stats: {
    operation: "GET /v1/account/stats",
    title: "Read the numbers of messages by outcome and hour or day"
  },
  attention_list: { operation: "GET /v1/account/attention", title: "Read what needs attention" },
  usage_daily: { operation: "GET /v1/account/usage/daily", title: "Read the usage by day" },
  usage_billing: { operation: "GET /v1/account/billing", title: "Read plan, quotas and cost" },
  webhooks_list: { operation: "GET /v1/webhooks", title: "List webhooks" },
  webhook_get: { operation: "GET /v1/webhooks/{id}", title: "Read a webhook with its health" },
  webhook_create: {
    operation: "POST /v1/webhooks",
    title: "Create a webhook",
    note: "The URL gets the account's events from then on. The answer has the secret, which is shown only once."
  },
  webhook_update: { operation: "PUT /v1/webhooks/{id}", title: "Change a webhook" },
  webhook_test: { operation: "POST /v1/webhooks/{id}/test", title: "Send a test event to a webhook" },
  webhook_delete: { operation: "DELETE /v1/webhooks/{id}", title: "Delete a webhook" },
  webhook_statistics: {
    operation: "GET /v1/webhooks/{id}/statistics",
    title: "Read how the attempts of a webhook went in the last 24 hours"
  },
  webhook_deliveries_list: { operation: "GET /v1/webhooks/{id}/deliveries", title: "List a webhook's deliveries" },
  webhook_delivery_get: {
    operation: "GET /v1/webhooks/{id}/deliveries/{delivery_id}",
    title: "Read a delivery with its attempts"
  },
  webhook_delivery_repeat: {
    operation: "POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
    title: "Deliver an event once more"
  }
}
