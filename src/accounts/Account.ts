import { Schema } from "effect"
import { AccountId } from "../values/Ids.ts"
import { Locale } from "../values/Locale.ts"
import { Plan } from "../values/Plan.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Timezone } from "../values/Timezone.ts"

/** An account holder (spec 2.8). `status` says whether it may send: the trial lasts 3 days. */
export const Account = Schema.Struct({
  id: AccountId,
  name: Schema.String,
  email: Schema.String,
  plan: Plan,
  status: Schema.Literals(["active", "trial", "trial_over"]),
  trial_ends_at: Schema.NullOr(Timestamp),
  timezone: Timezone,
  locale: Locale,
  created_at: Timestamp
})
export type Account = typeof Account.Type
