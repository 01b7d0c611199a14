import type { Judgement } from "./EmailDomain.ts"
import { judge } from "./judge.ts"

/** Receivers stop after this many lookups (RFC 7208, 4.6.4). */
const maxLookups = 10

/** Whether a text is an SPF record, valid or not. */
export const isSpf = (text: string) => /^v=spf1(?: |$)/i.test(text)
const isAll = (term: string) => /^[-+~?]?all$/.test(term)
const needsLookup = (term: string) => /^(?:[-+~?]?(?:include|a|mx|ptr|exists)(?:[:/]|$)|redirect=)/.test(term)
const hostName = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9._-]*[a-z0-9])?\.?$/

const termsOf = (record: string) => record.toLowerCase().split(/\s+/).filter((term) => term !== "").slice(1)

/** The host of an `include` that passes mail. The qualifiers -, ~ and ? do not. */
const included = (term: string) => /^\+?include:(.+?)\.?$/.exec(term)?.[1]
const mentioned = (term: string) => included(term.toLowerCase().replace(/^[-~?]/, ""))

/** Whether the record includes `host`. Terms after `all` are ignored. */
const includes = (record: string, host: string) => {
  const terms = termsOf(record)
  const end = terms.findIndex(isAll)
  return terms.slice(0, end < 0 ? undefined : end).some((term) => included(term) === host)
}

/** The target of `redirect=`, which only counts without `all` (RFC 7208, 6.1). */
export const spfRedirect = (texts: ReadonlyArray<string>): string | undefined => {
  const [record, second] = texts.filter(isSpf)
  if (record === undefined || second !== undefined) return undefined
  const terms = termsOf(record)
  const target = terms.find((term) => term.startsWith("redirect="))?.slice("redirect=".length)
  return target !== undefined && hostName.test(target) && !terms.some(isAll) ? target : undefined
}

/** The record with our host added in front. A second SPF record would invalidate both. */
const merged = (record: string, host: string) => {
  const [version = "v=spf1", ...terms] = record.split(/\s+/).filter((term) => term !== "")
  const others = terms.filter((term) => mentioned(term) !== host)
  return [version, `include:${host}`, ...others].join(" ")
}

const merge = (record: string, host: string) =>
  `Do not add a second SPF record. Change the existing one to: ${merged(record, host)}`

/** The target of a `redirect=` and its texts. */
export interface Redirected {
  readonly name: string
  readonly texts: ReadonlyArray<string>
}

const passed = (found: ReadonlyArray<string>): Judgement => {
  const lookups = found.flatMap(termsOf).filter(needsLookup).length
  return lookups > maxLookups
    ? judge(
      "verified",
      found,
      `The host is included, but the record needs ${lookups} DNS lookups and at most ${maxLookups} are allowed, so receivers will not evaluate it. Remove terms that you do not need.`
    )
    : judge("verified", found, "The host is included.")
}

const judgeRedirected = (record: string, host: string, { name, texts }: Redirected): Judgement => {
  const there = texts.filter(isSpf)
  const found = [record, ...there]
  if (there.length > 1) {
    return judge("conflict", found, `${name}, the target of redirect=, has ${there.length} SPF records. Keep only one.`)
  }
  const [target] = there
  return target !== undefined && includes(target, host)
    ? passed(found)
    : judge("mismatch", found, `Neither this record nor that of ${name} includes the host. ${merge(record, host)}`)
}

/** Whether the domain has exactly one SPF record (RFC 7208), and it includes `host`. Other terms are the owner's. */
export const judgeSpf = (
  texts: ReadonlyArray<string>,
  host: string,
  redirected: Redirected | undefined = undefined
): Judgement => {
  const records = texts.filter(isSpf)
  const [record] = records
  if (record === undefined) {
    return judge("missing", [], "There is no SPF record. Publish this one; it can take minutes to become visible.")
  }
  if (records.length > 1) {
    return judge(
      "conflict",
      records,
      `There are ${records.length} SPF records, which invalidates all of them. Keep only one: ${merged(record, host)}`
    )
  }
  if (includes(record, host)) return passed(records)
  return redirected === undefined
    ? judge("mismatch", records, `The SPF record does not include the host. ${merge(record, host)}`)
    : judgeRedirected(record, host, redirected)
}
