import { Schema } from "effect"
import { Timestamp } from "../../values/Timestamp.ts"
import { withExamples } from "./withExamples.ts"

const time = "2030-01-31T09:00:00.000000Z"

const Verification = {
  verification_id: Schema.String,
  to: Schema.String,
  channel: Schema.Literals(["sms", "whatsapp", "email"])
}
const verification = {
  verification_id: "ver_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
  to: "+15550100200",
  channel: "sms"
} as const

export const VerifyCompleted = withExamples(
  Schema.Struct({ ...Verification, verified_at: Timestamp }),
  { ...verification, verified_at: time }
)

export const VerifyExpired = withExamples(
  Schema.Struct({ ...Verification, expired_at: Timestamp }),
  { ...verification, expired_at: time }
)
