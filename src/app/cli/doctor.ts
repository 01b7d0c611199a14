import { Effect } from "effect"
import { Command } from "effect/cli"

/** Its checks are loaded here, as they reach into every channel: no other command waits for them. */
export const doctor = Command.make(
  "doctor",
  {},
  () => Effect.flatMap(Effect.promise(() => import("./diagnose.ts")), ({ diagnose }) => diagnose)
).pipe(
  Command.withDescription(
    "Check database, secrets, mail relay, bounces, links, DNS, SMS and WhatsApp, and say what is wrong"
  )
)
