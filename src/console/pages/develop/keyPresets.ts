import { Permission } from "../../../values/Permission.ts"
import type { Ask } from "../../page/Ask.ts"
import type { Option } from "../../page/Field.ts"

/** The rights of new keys by what they are for. A person who needs others uses the API. */
export const presets = {
  full: {},
  email: { scopes: ["email:write"] },
  sms: { scopes: ["sms:write"] },
  verify: { scopes: ["verify:write"] },
  whatsapp: { scopes: ["whatsapp:read", "whatsapp:write"] },
  read: { permissions: Permission.literals.filter((name) => name.endsWith(":read")) }
} as const
export type Preset = keyof typeof presets

/** The presets as choices. */
export const presetsOf = ({ t }: Ask): ReadonlyArray<Option> => [
  { value: "full", label: t.text("keys.preset.full"), hint: t.text("keys.preset.fullHint") },
  { value: "email", label: t.text("keys.preset.email"), hint: t.text("keys.preset.emailHint") },
  { value: "sms", label: t.text("keys.preset.sms"), hint: t.text("keys.preset.smsHint") },
  { value: "whatsapp", label: t.text("keys.preset.whatsapp"), hint: t.text("keys.preset.whatsappHint") },
  { value: "verify", label: t.text("keys.preset.verify"), hint: t.text("keys.preset.verifyHint") },
  { value: "read", label: t.text("keys.preset.read"), hint: t.text("keys.preset.readHint") }
]
