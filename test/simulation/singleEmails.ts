import { Context, Effect, Layer } from "effect"
import { EmailMailer } from "../../src/channels/email/single/EmailMailer.ts"
import { EmailSender } from "../../src/channels/email/single/EmailSender.ts"
import { noLabels } from "../../src/values/Labels.ts"
import { usualMix } from "./Cluster.ts"
import { mailOf, OpenRelay, outcomeOf, Outcomes, recipientRows, suppressed } from "./mail.ts"
import type { Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { NoTests, Settings } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const mailer = (node: VirtualNode, { receive }: Receiver) =>
  Layer.succeed(
    EmailMailer,
    EmailMailer.of({
      mail: ({ claim_number, id, is_suppressed }, lease) =>
        is_suppressed
          ? Effect.succeed({ subject: "s", labels: noLabels, outcome: suppressed })
          : Effect.map(
            receive({ node, item: mailOf(id), claim: claim_number, lease }),
            (verdict) => ({ subject: "s", labels: noLabels, outcome: outcomeOf(verdict) })
          )
    })
  )

/** Single emails, which every node sends. */
export const singleEmails: Workload = {
  name: "single emails",
  tables: ["email_messages", "suppressions", "usage_daily"],
  rows: recipientRows(10_000),
  faults: { mix: { ...usualMix, outage: 3 } },
  accept: ({ draw }) => [
    `insert into email_messages (account_id, recipient, due_at, lane)
      select $1, 'user' || n || '@example.com', now(), $3 from generate_series(1, $2::integer) as n`,
    [draw.between(1, 2), draw.between(1, 4), draw.between(0, 1)]
  ],
  start: (node, receiver) =>
    Effect.map(
      Layer.build(
        EmailSender.layer.pipe(Layer.provide([mailer(node, receiver), OpenRelay, Settings, Outcomes, NoTests]))
      ),
      (services) => ({ wake: Context.get(services, EmailSender).wake("live") })
    )
}
