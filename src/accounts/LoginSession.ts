import { Schema } from "effect"
import { LoginSessionId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** A login session as its owner sees it. Its token is shown at the login only. */
export const LoginSession = Schema.Struct({
  id: LoginSessionId,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp),
  expires_at: Timestamp,
  client_address: Schema.NullOr(Schema.String).annotate({ description: "The address that logged in" }),
  user_agent: Schema.NullOr(Schema.String).annotate({ description: "The program that logged in, as it called itself" }),
  is_current: Schema.Boolean.annotate({ description: "Whether this request uses the session" })
}).annotate({ identifier: "LoginSession" })
export type LoginSession = typeof LoginSession.Type
