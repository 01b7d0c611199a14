import { Context, Effect, Layer } from "effect"
import { PartStatusUpdates } from "../../src/channels/sms/parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../../src/channels/sms/parts/SmsOutlet.ts"
import { SmsProvider, type SubmitOutcome } from "../../src/channels/sms/parts/SmsProvider.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { usualMix } from "./Cluster.ts"
import { hasExpired } from "./ledger.ts"
import type { Receiver, Verdict } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Keys, RecordedEvents, Settings } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const outcomes: Record<Verdict, SubmitOutcome> = {
  accepted: { _tag: "Accepted", id: null },
  refused: { _tag: "Refused", code: "no", reason: "refused" },
  deferred: { _tag: "Deferred", code: "later", reason: "deferred" },
  lost: { _tag: "Unconfirmed", reason: "no answer" },
  unavailable: { _tag: "Unavailable", reason: "throttled", retryInMillis: 1_000 }
}

export const partOf = (message: unknown, part: unknown) => `part ${message}.${part}`

/** A provider with an HTTP API that takes each part by itself. */
export const provider = (node: VirtualNode, { receive }: Receiver) =>
  Layer.succeed(
    SmsProvider,
    SmsProvider.of({
      name: "simulated",
      takes: "segments",
      concurrency: 10,
      submit: ({ message_id, part_no, ...part }, lease) =>
        Effect.map(
          receive({ node, item: partOf(message_id, part_no), claim: Number(Object(part).claim_number), lease }),
          (verdict) => outcomes[verdict]
        )
    })
  )

/** The parts of SMS, as each node submits them to a provider with an HTTP API. */
export const smsParts: Workload = {
  name: "SMS parts",
  tables: ["messages", "sms_parts"],
  rows: {
    relation: "sms_parts",
    all: "select to_jsonb(p) as row from sms_parts p",
    itemOf: ({ message_id, part_no }) => partOf(message_id, part_no),
    claimOf: ({ claims, status }) => status === "sending" ? claims : undefined,
    mayReclaim: hasExpired(10_000, "doubts"),
    // The other parts of a message whose part failed.
    mayEnd: (after) => after?.["status"] === "failed",
    isFinal: ({ status }) => status === "sent" || status === "failed",
    isSent: ({ status }) => status === "sent"
  },
  faults: { mix: { ...usualMix, outage: 3 } },
  accept: ({ draw }) => [
    `with added as (
       insert into messages (account_id, channel, direction, recipient, content, segments, cost_micros)
       select $1, 'sms', 'out', '+250788123456', '{}', 1, 1 from generate_series(1, $2) returning id, account_id
     )
     insert into sms_parts (message_id, part_no, parts, encoding, body, lane, account_id)
     select id, part, $3, 'gsm7', 'Hello', $4, account_id from added, generate_series(1, $3) as part`,
    [draw.between(1, 2), draw.between(1, 3), draw.between(1, 2), draw.between(0, 1)]
  ],
  start: (node, receiver) =>
    Effect.map(
      Layer.build(SmsOutlet.layerProvider.pipe(
        Layer.provide([
          provider(node, receiver),
          Settings,
          Keys,
          PartStatusUpdates.layer.pipe(Layer.provide([RecordedEvents, Usage.layer]))
        ])
      )),
      Context.get(SmsOutlet)
    )
}
