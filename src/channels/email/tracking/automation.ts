/** Milliseconds after the handover in which a reader can hardly have the mail open, but a scanner has. */
const instant = 5_000

/** Who asks for a pixel or a link, and when. */
export interface Visit {
  /** Empty when there is none. */
  readonly userAgent: string
  /** Since the relay took the message; undefined while it has not yet said so. */
  readonly millisSinceSent: number | undefined
}

const isInstant = ({ millisSinceSent }: Visit) => millisSinceSent === undefined || millisSinceSent < instant

/** What names itself a program: crawlers, libraries and the scanners of mail gateways. Cubot makes phones. */
const program =
  /(?<!cu)bot\b|crawl|spider|slurp|scan|preview|monitor|headless|phantomjs|curl|wget|python|java\/|go-http-client|okhttp|libwww|httpclient|node-fetch|undici|axios|perl|ruby|php\/|facebookexternalhit|whatsapp|barracuda|mimecast|proofpoint|symantec|messagelabs|trendmicro|safelinks|forcepoint|fireeye|cloudmark|zscaler/i

/**
 * Whether a pixel was loaded by a program in the place of a reader: Apple's mail privacy protection, which calls itself
 * exactly `Mozilla/5.0`, Google's image proxy, a scanner. Both proxies may also act for a reader, which nobody can tell.
 */
export const isMachineOpen = (visit: Visit): boolean =>
  isInstant(visit) || visit.userAgent === "" || visit.userAgent === "Mozilla/5.0"
  || visit.userAgent.includes("GoogleImageProxy") || program.test(visit.userAgent)

/**
 * Whether a link was followed by a program: by HEAD, under a program's name or none, right after the handover, or just
 * after another link of the same message, as scanners follow all of them.
 */
export const isBotClick = (
  visit: Visit & { readonly method: string; readonly isOneOfMany: boolean }
): boolean =>
  visit.method === "HEAD" || visit.isOneOfMany || isInstant(visit) || visit.userAgent === ""
  || program.test(visit.userAgent)
