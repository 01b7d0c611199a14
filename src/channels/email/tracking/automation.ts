/** Milliseconds after acceptance by the relay in which a scanner opens the mail, but hardly a person. */
const scanWindow = 5_000

/** A request for a pixel or a link. */
export interface Visit {
  /** Empty if the request names none. */
  readonly userAgent: string
  /** Time since the relay accepted the message; undefined while that is not recorded. */
  readonly millisSinceSent: number | undefined
}

const isInstant = ({ millisSinceSent }: Visit) => millisSinceSent === undefined || millisSinceSent < scanWindow

/** Matches crawlers, libraries and the scanners of mail gateways. Cubot makes phones. */
const program =
  /(?<!cu)bot\b|crawl|spider|slurp|scan|preview|monitor|headless|phantomjs|curl|wget|python|java\/|go-http-client|okhttp|libwww|httpclient|node-fetch|undici|axios|perl|ruby|php\/|facebookexternalhit|whatsapp|barracuda|mimecast|proofpoint|symantec|messagelabs|trendmicro|safelinks|forcepoint|fireeye|cloudmark|zscaler/i

/**
 * Whether a program loaded a pixel: Apple's mail privacy protection, which calls itself exactly `Mozilla/5.0`, Google's
 * image proxy, or a scanner. Both proxies may also act for a reader, which the request does not show.
 */
export const isMachineOpen = (visit: Visit): boolean =>
  isInstant(visit) || visit.userAgent === "" || visit.userAgent === "Mozilla/5.0"
  || visit.userAgent.includes("GoogleImageProxy") || program.test(visit.userAgent)

/**
 * Whether a program followed a link: by HEAD, under a program's name or without a name, right after acceptance by the
 * relay, or just after another link of the same message, because scanners follow all of them.
 */
export const isBotClick = (
  visit: Visit & { readonly method: string; readonly isOneOfMany: boolean }
): boolean =>
  visit.method === "HEAD" || visit.isOneOfMany || isInstant(visit) || visit.userAgent === ""
  || program.test(visit.userAgent)
