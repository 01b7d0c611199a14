import type { Judgement } from "./EmailDomain.ts"
import { judge } from "./judge.ts"

/** RFC 7208, 4.6.4: a receiver gives up after so many. */
const mostLookups = 10

/** Whether a text is an SPF record, whatever it says. */
export const isSpf = (text: string) => /^v=spf1(?: |$)/i.test(text)
const isAll = (term: string) => /^[-+~?]?all$/.test(term)
const needsLookup = (term: string) => /^(?:[-+~?]?(?:include|a|mx|ptr|exists)(?:[:/]|$)|redirect=)/.test(term)
const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?\.?$/

const termsOf = (record: string) => record.toLowerCase().split(/\s+/).filter((term) => term !== "").slice(1)

/** The host of an `include` that lets mail pass; the qualifiers -, ~ and ? do not. */
const included = (term: string) => /^\+?include:(.+?)\.?$/.exec(term)?.[1]
const mentioned = (term: string) => included(term.toLowerCase().replace(/^[-~?]/, ""))

/** Whether the record lets `host` speak for it. What stands behind `all` is never looked at. */
const includes = (record: string, host: string) => {
  const terms = termsOf(record)
  const end = terms.findIndex(isAll)
  return terms.slice(0, end < 0 ? undefined : end).some((term) => included(term) === host)
}

/** Where the record of a domain goes on: `redirect=` counts only where there is no `all` (RFC 7208, 6.1). */
export const spfRedirect = (texts: ReadonlyArray<string>): string | undefined => {
  const [record, second] = texts.filter(isSpf)
  if (record === undefined || second !== undefined) return undefined
  const terms = termsOf(record)
  const target = terms.find((term) => term.startsWith("redirect="))?.slice("redirect=".length)
  return target !== undefined && hostName.test(target) && !terms.some(isAll) ? target : undefined
}

/** The record with our host in front: a second SPF record would void both. */
const merged = (record: string, host: string) => {
  const [version = "v=spf1", ...terms] = record.split(/\s+/).filter((term) => term !== "")
  const others = terms.filter((term) => mentioned(term) !== host)
  return [version, `include:${host}`, ...others].join(" ")
}

const merge = (record: string, host: string) =>
  `Do not add a second SPF record; change the one that is there to: ${merged(record, host)}`

/** Where a `redirect=` leads, and the texts there. */
export interface Redirected {
  readonly name: string
  readonly texts: ReadonlyArray<string>
}

const passed = (found: ReadonlyArray<string>): Judgement => {
  const lookups = found.flatMap(termsOf).filter(needsLookup).length
  return lookups > mostLookups
    ? judge(
      "verified",
      found,
      `The host is included, but the record needs ${lookups} DNS lookups of at most ${mostLookups}: receivers will not evaluate it. Remove what you do not need.`
    )
    : judge("verified", found, "The host is included.")
}

const judgeRedirected = (record: string, host: string, { name, texts }: Redirected): Judgement => {
  const there = texts.filter(isSpf)
  const found = [record, ...there]
  if (there.length > 1) {
    return judge("conflict", found, `${name}, where redirect= leads, has ${there.length} SPF records. Leave one.`)
  }
  const [target] = there
  return target !== undefined && includes(target, host)
    ? passed(found)
    : judge("mismatch", found, `Neither this record nor that of ${name} includes the host. ${merge(record, host)}`)
}

/** Whether the texts at the domain are one SPF record (RFC 7208) that includes `host`; all else in it is its owner's. */
export const judgeSpf = (
  texts: ReadonlyArray<string>,
  host: string,
  redirected: Redirected | undefined = undefined
): Judgement => {
  const records = texts.filter(isSpf)
  const [record] = records
  if (record === undefined) {
    return judge("missing", [], "There is no SPF record here. Publish this one; until it is seen can take minutes.")
  }
  if (records.length > 1) {
    return judge(
      "conflict",
      records,
      `There are ${records.length} SPF records here, which voids all of them. Leave one: ${merged(record, host)}`
    )
  }
  if (includes(record, host)) return passed(records)
  return redirected === undefined
    ? judge("mismatch", records, `The SPF record does not include the host. ${merge(record, host)}`)
    : judgeRedirected(record, host, redirected)
}
