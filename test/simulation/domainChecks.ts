import { Context, Effect, Layer } from "effect"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { DomainVerification } from "../../src/email-domains/DomainVerification.ts"
import { Dns } from "../../src/platform/net/Dns.ts"
import { noLease, type Receiver } from "./Receiver.ts"
import type { Workload } from "./runSeed.ts"
import { Settings } from "./services.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const itemOf = (domain: unknown) => `domain ${domain}`

const verdicts = [[4, "accepted"], [1, "refused"]] as const

/**
 * A lookup that always took longer than the lease would never end. A check ends a lookup after ten seconds, and no answer is
 * on its way at that time: the ledger would take it for one that was received.
 */
const lookUpTimes = {
  connect: [[1, 0, 0]],
  answer: [[5, 1, 100], [2, 100, 3_000], [2, 3_000, 9_900], [1, 10_100, 14_000]]
} as const

/** Name servers that publish the key of each domain, at once or only later. */
const nameServers = (node: VirtualNode, { receive }: Receiver) =>
  Layer.mock(Dns)({
    txt: Effect.fnUntraced(function*(name) {
      const [, domain] = name.split("._domainkey.")
      if (domain === undefined) return ["v=spf1 include:spf.localhost.localdomain ~all"]
      const verdict = yield* receive({
        node,
        item: itemOf(domain),
        claim: 0,
        lease: noLease,
        verdicts,
        times: lookUpTimes
      })
      return verdict === "accepted" ? ["k=rsa;p=AAAA"] : []
    }),
    mx: () => Effect.succeed([])
  })

/** The checks of sending domains, which the owner of the shard makes. A claim is the end of its lease. */
export const domainChecks: Workload = {
  name: "domain checks",
  tables: ["email_domains", "notices"],
  faults: { thawedFor: 1_000 },
  rows: {
    relation: "email_domains",
    all: "select to_jsonb(d) as row from email_domains d",
    itemOf: ({ domain }) => itemOf(domain),
    claimOf: ({ check_until }) => check_until ?? undefined,
    mayReclaim: ({ at, before }) => at > Date.parse(String(before["check_until"])),
    hasNoLease: true,
    isFinal: ({ status }) => status === "verified",
    isSent: ({ status }) => status === "verified"
  },
  accept: ({ draw }) => [
    `insert into email_domains (account_id, domain, dkim_private_key, dkim_public_key, next_check_at)
      select 1, 'd' || n || '-' || (select count(*) from email_domains) || '.example.com', '', 'AAAA', now()
        from generate_series(1, $1::integer) n`,
    [draw.between(1, 2)]
  ],
  start: (node, receiver) =>
    Effect.gen(function*() {
      const services = yield* Layer.build(
        DomainVerification.layer.pipe(Layer.provide([nameServers(node, receiver), Notices.layer, Settings]))
      )
      const { checkDue, isAnyDue } = Context.get(services, DomainVerification)
      const all = Effect.repeat(checkDue, { while: (found) => found })
      const poll = Effect.flatMap(isAnyDue, (is) => is ? Effect.all([all, all], { concurrency: 2 }) : Effect.void)
      const owned = Effect.forever(Effect.andThen(Effect.ignoreCause(poll), Effect.sleep("1 second")))
      return { wake: Effect.void, owned }
    })
}
