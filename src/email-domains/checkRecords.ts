import { Duration, Effect } from "effect"
import type { Dns, DnsUnanswered } from "../platform/net/Dns.ts"
import { type DomainName, organizationalDomain } from "../values/DomainName.ts"
import { judgeDkim } from "./DkimRecord.ts"
import { judgeDmarc } from "./DmarcRecord.ts"
import { dkimSelector, dnsRecords, type DomainCheck, type Judgement, mailHost } from "./EmailDomain.ts"
import { judge, unanswered } from "./judge.ts"
import { judgeMx } from "./MxRecord.ts"
import { judgeSpf, spfRedirect } from "./SpfRecord.ts"

/** The expected content of the records. */
export interface Expected {
  readonly domain: DomainName
  readonly publicKey: string
  readonly spfHost: string
}

/** The timeout of a check, however many lookups it makes in sequence. */
const checkTimeout = Duration.seconds(10)

const tooSlow = unanswered("The name servers took too long")

/** Looks up the four records of a domain concurrently and judges each. Name servers that fail give a verdict too. */
export const checkRecords = (dns: Dns["Service"]) => {
  const dkim = ({ domain, publicKey }: Expected) =>
    Effect.map(dns.txt(`${dkimSelector}._domainkey.${domain}`), (texts) => judgeDkim(texts, publicKey))

  const spf = Effect.fnUntraced(function*({ domain, spfHost }: Expected) {
    const texts = yield* dns.txt(domain)
    const own = judgeSpf(texts, spfHost)
    const name = spfRedirect(texts)
    if (own.status === "verified" || name === undefined) return own
    return judgeSpf(texts, spfHost, { name, texts: yield* dns.txt(name) })
  })

  const dmarc = Effect.fnUntraced(function*({ domain }: Expected) {
    const texts = yield* dns.txt(`_dmarc.${domain}`)
    const own = judgeDmarc(texts)
    const parent = organizationalDomain(domain)
    if (own.status !== "missing" || parent === null || parent === domain) return own
    const name = `_dmarc.${parent}`
    return judgeDmarc(texts, { name, texts: yield* dns.txt(name) })
  })

  const mx = Effect.fnUntraced(function*({ domain }: Expected) {
    const host = mailHost(domain)
    const exchangers = yield* dns.mx(domain)
    const isOurs = exchangers.some(({ exchange }) => exchange === host)
    return judgeMx(exchangers, host, isOurs && (yield* dns.hasAddress(host)))
  })

  const settled = (judgement: Effect.Effect<Judgement, DnsUnanswered>) =>
    judgement.pipe(
      Effect.catchTag("DnsUnanswered", ({ message }) => Effect.succeed(unanswered(message))),
      Effect.timeoutOrElse({ duration: checkTimeout, orElse: () => Effect.succeed(tooSlow) })
    )

  return Effect.fn("checkRecords")(function*(expected: Expected): Effect.fn.Return<DomainCheck> {
    const found = yield* Effect.all({
      DKIM: settled(dkim(expected)),
      SPF: settled(spf(expected)),
      DMARC: settled(dmarc(expected)),
      MX: settled(mx(expected))
    }, { concurrency: "unbounded" })
    return (["DKIM", "SPF", "DMARC", "MX"] as const).map((purpose) => ({ purpose, ...found[purpose] }))
  })
}

/** Whether a name is reserved for tests (RFC 2606), so that no DNS has it. */
export const isTestDomain = (domain: DomainName): boolean => domain.endsWith(".test")

/** The check of such a name in the sandbox, which takes its records as published. */
export const checkInSandbox = (expected: Expected): DomainCheck =>
  dnsRecords(expected).map(({ purpose, value }) => ({
    purpose,
    ...judge("verified", [value], "The sandbox takes the records of .test domains as published.")
  }))
