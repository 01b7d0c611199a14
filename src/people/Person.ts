import { Schema } from "effect"
import { AccountId, LoginSessionId, PersonId } from "../values/Ids.ts"
import { Locale, Timezone } from "../values/Locale.ts"
import { Role } from "../values/Permission.ts"
import { Plan } from "../values/Plan.ts"
import { lineBetween } from "../values/Text.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** A person who signs in. `account_id` is the account whose row has their address and password, if one does. */
export const Person = Schema.Struct({
  id: PersonId,
  account_id: Schema.NullOr(AccountId),
  name: Schema.String,
  email: Schema.String,
  locale: Locale,
  timezone: Timezone,
  is_operator: Schema.Boolean,
  theme: Schema.Literals(["system", "light", "dark"]),
  hour_cycle: Schema.Literals(["language", "h12", "h23"]),
  has_shortcuts: Schema.Boolean,
  last_account_id: Schema.NullOr(AccountId)
})
export type Person = typeof Person.Type

/** What a person may change of themselves. */
export const PersonChange = Schema.Struct({
  name: lineBetween(1, 200),
  locale: Locale,
  timezone: Timezone,
  theme: Person.fields.theme,
  hour_cycle: Person.fields.hour_cycle,
  has_shortcuts: Schema.Boolean
})
export type PersonChange = typeof PersonChange.Type

/** An account in which a person has a role. */
export const Membership = Schema.Struct({
  id: AccountId,
  name: Schema.String,
  role: Role,
  plan: Plan,
  trial: Schema.Literals(["none", "running", "over"]),
  awaits_confirmation: Schema.Boolean,
  /** The account has a shadow for its test keys. */
  has_test_mode: Schema.Boolean
})
export type Membership = typeof Membership.Type

/** What proved a person's identity. */
export const Method = Schema.Literals(["password", "passkey", "authenticator", "recovery_code", "setup_link"])
export type Method = typeof Method.Type

/** A sign-in as its person sees it. */
export const SignIn = Schema.Struct({
  id: LoginSessionId,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Timestamp,
  client_address: Schema.NullOr(Schema.String).annotate({ description: "The address that signed in" }),
  user_agent: Schema.NullOr(Schema.String).annotate({ description: "The browser that signed in, as it called itself" }),
  methods: Schema.Array(Method).annotate({ description: "What proved the person's identity" })
}).annotate({ identifier: "SignIn" })
export type SignIn = typeof SignIn.Type

/** A person with a role in an account. */
export const Member = Schema.Struct({
  id: PersonId,
  name: Schema.String,
  email: Schema.String,
  role: Role,
  has_second_factor: Schema.Boolean,
  last_sign_in_at: Schema.NullOr(Timestamp),
  created_at: Timestamp.annotate({ description: "When the person got the role" })
}).annotate({ identifier: "Member" })
export type Member = typeof Member.Type

/** A sign-in that is valid now, with its person and their accounts. */
export const SignedIn = Schema.Struct({
  sign_in_id: Schema.Int,
  expires_at: Timestamp,
  methods: Schema.Array(Method),
  /** The person proved their identity in the last minutes, and this browser has the token that the proof brought. */
  is_fresh: Schema.Boolean,
  /** The token is a day old: the next answer brings another one. */
  is_due: Schema.Boolean,
  is_stale: Schema.Boolean,
  /** A password alone does not prove the person: they have a passkey or an authenticator app. */
  has_second_factor: Schema.Boolean,
  person: Person,
  accounts: Schema.Array(Membership)
})
export type SignedIn = typeof SignedIn.Type
