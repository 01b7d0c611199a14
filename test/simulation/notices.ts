import { Effect, Layer } from "effect"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { SealedNotices } from "../../src/accounts/notices/SealedNotices.ts"
import { sendNotices } from "../../src/channels/email/notices/NoticeSender.ts"
import { DefaultSender, NoticeAddress } from "../../src/channels/email/request/DefaultSender.ts"
import { Smtp } from "../../src/channels/email/smtp/Smtp.ts"
import { EmailDomains } from "../../src/email-domains/EmailDomains.ts"
import { PublicUrl } from "../../src/platform/http/PublicUrl.ts"
import { Claim } from "../../src/platform/work/Claims.ts"
import { failures } from "./mail.ts"
import type { Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Settings, TestVault } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const itemOf = (id: unknown) => `notice ${id}`

/** The order of claims. An attempt that found the relay away is not counted, so later claims may have fewer attempts. */
const claimNumber = ({ attempt_count, due_at }: { readonly attempt_count: number; readonly due_at: string }) =>
  Date.parse(due_at) * 10 + attempt_count

/** A relay that knows the notice of a mail by the claim that it is sent with. */
const relay = (node: VirtualNode, { receive }: Receiver) =>
  Layer.mock(Smtp)({
    send: ({ lease }) =>
      Effect.gen(function*() {
        if (!(lease instanceof Claim)) return yield* Effect.die(new Error("a notice was sent without its claim"))
        const { id } = lease.item
        const verdict = yield* receive({ node, item: itemOf(id), claim: claimNumber(lease.item), lease })
        return verdict === "accepted" ? { response: "250 ok" } : yield* failures[verdict]
      }),
    admission: () => Effect.succeed({ _tag: "Pass" }),
    paused: Effect.succeed(new Set())
  })

/** Notices, which the owner of the shard sends. A claim counts an attempt and leaves the row queued. */
export const notices: Workload = {
  name: "notices",
  tables: ["notices"],
  rows: {
    relation: "notices",
    all: "select to_jsonb(n) as row from notices n",
    itemOf: ({ id }) => itemOf(id),
    claimOf: ({ attempt_count }) => attempt_count === 0 ? undefined : attempt_count,
    mayReclaim: ({ after, before }) => Number(after?.["attempt_count"]) === Number(before["attempt_count"]) + 1,
    hasNoLease: true,
    leaseTime: 8_000,
    isFinal: ({ status }) => status !== "queued",
    isSent: ({ status }) => status === "sent"
  },
  accept: ({ draw }) => [
    `insert into notices (account_id, lane, kind, subject, body)
      select $1, $3, 'key_created', 'A key', 'It was created.' from generate_series(1, $2::integer)`,
    [draw.between(1, 2), draw.between(1, 6), draw.between(0, 1)]
  ],
  start: (node, receiver) =>
    Effect.map(
      Layer.build(
        Layer.mergeAll(
          Notices.layer,
          NoticeAddress.layer,
          DefaultSender.layer,
          SealedNotices.layer,
          PublicUrl.layer(80),
          relay(node, receiver),
          Layer.mock(EmailDomains)({ verifiedKey: () => Effect.succeedNone })
        ).pipe(Layer.provide([Settings, TestVault]))
      ),
      (services) => ({ wake: Effect.void, owned: Effect.provide(sendNotices, services) })
    )
}
