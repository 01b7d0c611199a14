import type { Permission, Scope } from "../../src/values/Permission.ts"

/** Who may call an endpoint of an account. */
export interface Row {
  /** A key with one of them is admitted. Empty: only keys without scopes and login sessions. */
  readonly scopes: ReadonlyArray<Scope>
  readonly permission?: Permission
  /**
   * `subscription`: refused in the trial and after it. `sending`: refused after the trial, and before the owner has
   * confirmed the address.
   */
  readonly paid?: "subscription" | "sending"
  /** Keys of the other mode get 403. */
  readonly mode?: "live" | "test"
}

const full = (permission: Permission): Row => ({ scopes: [], permission })
const account = (permission: Permission): Row => ({ scopes: ["account:read"], permission })
const email = (permission: Permission): Row => ({ scopes: ["email:write"], permission })
const sms = (permission: Permission): Row => ({ scopes: ["sms:write"], permission })
const verify = (permission: Permission): Row => ({ scopes: ["verify:write"], permission })
const whatsapp = (access: "read" | "write", permission: Permission): Row => ({
  scopes: [`whatsapp:${access}`],
  permission
})
const liveOnly = (row: Row): Row => ({ ...row, mode: "live" })
const testOnly = (row: Row): Row => ({ ...row, mode: "test" })
const channels: ReadonlyArray<Scope> = ["whatsapp:write", "sms:write", "email:write"]
const anyChannel = (permission: Permission): Row => ({ scopes: channels, permission })
const sending = (row: Row): Row => ({ ...row, paid: "sending" })
const subscribed = (row: Row): Row => ({ ...row, paid: "subscription" })

/**
 * Who may call each endpoint, written by hand from the specification (4, 5) and the documentation, never from the code.
 * A new endpoint needs a row here.
 */
export const accessTable: Readonly<Record<string, Row | "public">> = {
  "POST /v1/auth/register": "public",
  "POST /v1/auth/login": "public",
  "POST /v1/auth/password/forgot": "public",
  "POST /v1/auth/password/reset": "public",
  "POST /v1/auth/confirmation": full("account:write"),
  "POST /v1/auth/logout": { scopes: [] },

  "GET /v1/email/messages/:id/timeline": email("emails:read"),
  "GET /v1/sms/messages/:id/timeline": sms("sms:read"),
  "GET /v1/whatsapp/messages/:id/timeline": whatsapp("read", "messages:read"),
  "GET /v1/messages": { scopes: ["email:write", "sms:write", "whatsapp:read"], permission: "messages:read" },

  "GET /v1/account": account("account:read"),
  "PUT /v1/account/profile": liveOnly(full("account:write")),
  "PUT /v1/account/password": liveOnly(full("account:write")),
  "GET /v1/account/notifications": liveOnly(full("account:read")),
  "PUT /v1/account/notifications": liveOnly(full("account:write")),
  "GET /v1/account/sessions": liveOnly(full("account:read")),
  "DELETE /v1/account/sessions": liveOnly(full("account:write")),
  "DELETE /v1/account/sessions/:id": liveOnly(full("account:write")),
  "GET /v1/account/members": liveOnly(full("members:read")),
  "GET /v1/account/sign-ins": liveOnly(full("account:read")),
  "DELETE /v1/account/sign-ins": liveOnly(full("account:write")),
  "DELETE /v1/account/sign-ins/:id": liveOnly(full("account:write")),
  "DELETE /v1/account": liveOnly(full("account:write")),
  "GET /v1/account/usage": account("account:read"),
  "GET /v1/account/usage/daily": account("account:read"),
  "GET /v1/account/stats": account("account:read"),
  "GET /v1/account/attention": account("account:read"),
  "GET /v1/account/billing": account("account:read"),

  "GET /v1/api-keys": full("keys:read"),
  "POST /v1/api-keys": full("keys:write"),
  "GET /v1/api-keys/:id": full("keys:read"),
  "POST /v1/api-keys/:id/rotate": full("keys:write"),
  "DELETE /v1/api-keys/:id": full("keys:write"),

  "GET /v1/requests": full("requests:read"),
  "GET /v1/requests/:request_id": full("requests:read"),

  "GET /v1/sandbox/messages": testOnly(full("messages:read")),
  "DELETE /v1/sandbox/messages": testOnly(full("messages:write")),
  "GET /v1/sandbox/receiver": full("webhooks:read"),
  "PUT /v1/sandbox/receiver": full("webhooks:write"),
  "GET /v1/sandbox/faults": testOnly(full("messages:read")),
  "POST /v1/sandbox/faults": testOnly(full("messages:write")),
  "DELETE /v1/sandbox/faults": testOnly(full("messages:write")),

  "GET /v1/webhooks": full("webhooks:read"),
  "POST /v1/webhooks": subscribed(full("webhooks:write")),
  "GET /v1/webhooks/:id": full("webhooks:read"),
  "PUT /v1/webhooks/:id": subscribed(full("webhooks:write")),
  "DELETE /v1/webhooks/:id": subscribed(full("webhooks:write")),
  "POST /v1/webhooks/:id/rotate-secret": subscribed(full("webhooks:write")),
  "POST /v1/webhooks/:id/test": full("webhooks:write"),
  "GET /v1/webhooks/:id/statistics": full("webhooks:read"),
  "GET /v1/webhooks/:id/deliveries": full("webhooks:read"),
  "GET /v1/webhooks/:id/deliveries/:delivery_id": full("webhooks:read"),
  "POST /v1/webhooks/:id/deliveries/:delivery_id/redeliver": full("webhooks:write"),
  "POST /v1/webhooks/:id/recover": full("webhooks:write"),
  "GET /v1/webhooks/:id/recover": full("webhooks:read"),
  "GET /v1/webhooks/:id/recoveries": full("webhooks:read"),
  "GET /v1/webhooks/:id/recoveries/:recovery_id": full("webhooks:read"),
  "POST /v1/webhooks/:id/recoveries/:recovery_id/cancel": full("webhooks:write"),

  "POST /v1/email/send": sending(email("emails:write")),
  "POST /v1/email/send-bulk": sending(email("emails:write")),
  "GET /v1/email/messages": email("emails:read"),
  "GET /v1/email/messages/:id": email("emails:read"),
  "GET /v1/email/messages/:id/content": email("emails:read"),
  "GET /v1/email/messages/:id/source": email("emails:read"),
  "GET /v1/email/history": email("emails:read"),
  "GET /v1/email/status/:id": email("emails:read"),
  "GET /v1/email/batches": email("emails:read"),
  "GET /v1/email/batches/:batch_id": email("emails:read"),
  "GET /v1/email/batches/:batch_id/recipients": email("emails:read"),
  "POST /v1/email/batches/:batch_id/resend": sending(email("emails:write")),
  "POST /v1/email/batches/:batch_id/cancel": email("emails:write"),
  "PATCH /v1/email/batches/:batch_id": email("emails:write"),
  "POST /v1/email/messages/:id/cancel": email("emails:write"),
  "PATCH /v1/email/messages/:id": email("emails:write"),
  "GET /v1/email/suppressions": email("emails:read"),
  "POST /v1/email/suppressions": email("emails:write"),
  "POST /v1/email/suppress-bulk": email("emails:write"),
  "GET /v1/email/suppressions/:email": email("emails:read"),
  "DELETE /v1/email/suppressions/:email": email("emails:write"),
  "GET /v1/email/templates": email("templates:read"),
  "POST /v1/email/templates": email("templates:write"),
  "GET /v1/email/templates/:template_id": email("templates:read"),
  "PUT /v1/email/templates/:template_id": email("templates:write"),
  "DELETE /v1/email/templates/:template_id": email("templates:write"),
  "GET /v1/email/templates/:template_id/versions": email("templates:read"),
  "GET /v1/email/templates/:template_id/versions/:version_id": email("templates:read"),
  "POST /v1/email/templates/:template_id/versions/:version_id/restore": email("templates:write"),
  "GET /v1/email/domains": email("domains:read"),
  "POST /v1/email/domains": email("domains:write"),
  "GET /v1/email/domains/:id": email("domains:read"),
  "PUT /v1/email/domains/:id": email("domains:write"),
  "DELETE /v1/email/domains/:id": email("domains:write"),
  "POST /v1/email/domains/:id/verify": email("domains:write"),

  "GET /v1/sms/pricing": "public",
  "POST /v1/sms/send": sending(sms("sms:write")),
  "POST /v1/sms/preview": sms("sms:read"),
  "POST /v1/sms/send-bulk": sending(sms("sms:write")),
  "GET /v1/sms/messages": sms("sms:read"),
  "GET /v1/sms/messages/:id": sms("sms:read"),
  "GET /v1/sms/status/:id": sms("sms:read"),
  "GET /v1/sms/batches": sms("sms:read"),
  "GET /v1/sms/batches/:batch_id": sms("sms:read"),
  "POST /v1/sms/batches/:batch_id/resend": sending(sms("sms:write")),
  "POST /v1/sms/batches/:batch_id/cancel": sms("sms:write"),
  "PATCH /v1/sms/batches/:batch_id": sms("sms:write"),
  "POST /v1/sms/messages/:id/cancel": sms("sms:write"),
  "PATCH /v1/sms/messages/:id": sms("sms:write"),
  "GET /v1/sms/sender-ids": sms("sms:read"),
  "GET /v1/sms/link": sms("sms:read"),
  "GET /v1/sms/statistics": sms("sms:read"),

  // Each step needs the scope and the permission of its channel as well.
  "POST /v1/messages": sending(anyChannel("messages:write")),
  "GET /v1/messages/:failover_id": { ...anyChannel("messages:read"), scopes: [...channels, "whatsapp:read"] },
  "GET /v1/messages/:failover_id/timeline": { ...anyChannel("messages:read"), scopes: [...channels, "whatsapp:read"] },
  "POST /v1/messages/:failover_id/cancel": anyChannel("messages:write"),
  "PATCH /v1/messages/:failover_id": anyChannel("messages:write"),

  "POST /v1/verify/send": sending(verify("verify:write")),
  "POST /v1/verify/check": verify("verify:write"),
  "GET /v1/verify/status": verify("verify:read"),
  "GET /v1/verify/status/:verification_id": verify("verify:read"),
  "GET /v1/verify/statistics": verify("verify:read"),
  "GET /v1/verify/blocks": verify("verify:read"),
  "DELETE /v1/verify/blocks/:prefix": verify("verify:write"),
  "GET /v1/verify/status/:verification_id/timeline": verify("verify:read"),
  // Callers check a number before they send it a code or an SMS.
  "GET /v1/phone/validate": { scopes: ["verify:write", "sms:write"], permission: "verify:read" },

  "GET /v1/whatsapp/sessions": whatsapp("read", "sessions:read"),
  "POST /v1/whatsapp/sessions": whatsapp("write", "sessions:write"),
  "GET /v1/whatsapp/sessions/:id": whatsapp("read", "sessions:read"),
  "GET /v1/whatsapp/sessions/:id/figures": whatsapp("read", "sessions:read"),
  "GET /v1/whatsapp/sessions/:id/states": whatsapp("read", "sessions:read"),
  // Only a key that can create a session needs its code, and only one that can read sees its status.
  "GET /v1/whatsapp/sessions/:id/qr": { scopes: ["whatsapp:read", "whatsapp:write"], permission: "sessions:read" },
  "POST /v1/whatsapp/sessions/:id/pairing-code": whatsapp("write", "sessions:write"),
  "PUT /v1/whatsapp/sessions/:id": whatsapp("write", "sessions:write"),
  "POST /v1/whatsapp/sessions/:id/reconnect": whatsapp("write", "sessions:write"),
  "POST /v1/whatsapp/sessions/:id/logout": whatsapp("write", "sessions:write"),
  "POST /v1/whatsapp/sessions/:id/pairing-link": whatsapp("write", "sessions:write"),
  "DELETE /v1/whatsapp/sessions/:id": whatsapp("write", "sessions:write"),
  "POST /v1/whatsapp/send": sending(whatsapp("write", "messages:write")),
  "POST /v1/whatsapp/send-bulk": sending(whatsapp("write", "messages:write")),
  "GET /v1/whatsapp/messages": whatsapp("read", "messages:read"),
  "GET /v1/whatsapp/messages/:id": whatsapp("read", "messages:read"),
  "GET /v1/whatsapp/messages/:id/media": whatsapp("read", "messages:read"),
  "GET /v1/whatsapp/batches": whatsapp("read", "messages:read"),
  "GET /v1/whatsapp/batches/:batch_id": whatsapp("read", "messages:read"),
  "POST /v1/whatsapp/batches/:batch_id/resend": sending(whatsapp("write", "messages:write")),
  "POST /v1/whatsapp/batches/:batch_id/cancel": whatsapp("write", "messages:write"),
  "PATCH /v1/whatsapp/batches/:batch_id": whatsapp("write", "messages:write"),
  "POST /v1/whatsapp/messages/:id/cancel": whatsapp("write", "messages:write"),
  "PATCH /v1/whatsapp/messages/:id": whatsapp("write", "messages:write"),
  "GET /v1/whatsapp/contacts": whatsapp("read", "contacts:read"),
  "GET /v1/whatsapp/contacts/:phone/check": whatsapp("read", "contacts:read"),
  "GET /v1/whatsapp/groups": whatsapp("read", "groups:read"),
  "POST /v1/whatsapp/groups": whatsapp("write", "groups:write"),
  "GET /v1/whatsapp/groups/:id": whatsapp("read", "groups:read"),
  "PUT /v1/whatsapp/groups/:id": whatsapp("write", "groups:write")
}
