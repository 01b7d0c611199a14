import type { Judgement } from "./EmailDomain.ts"
import { judge, tagList } from "./judge.ts"

const isDmarc = (text: string) => /^v\s*=\s*DMARC1\s*(?:;|$)/.test(text)
const policies: ReadonlyArray<string | undefined> = ["none", "quarantine", "reject"]

/** Accepts any policy: our mail also passes a stricter one than we recommend. */
const judgeOne = (record: string, from: string): Judgement => {
  const policy = tagList(record)?.get("p")?.toLowerCase()
  return policies.includes(policy)
    ? judge("verified", [record], `There is a DMARC policy${from}: ${policy}.`)
    : judge("mismatch", [record], `The DMARC record${from} has no valid policy. Set p=none, or publish this record.`)
}

/**
 * Whether there is a DMARC policy (RFC 7489, 6.6.3), at the domain or at its organizational domain with the texts
 * `organizational`. Recommended: Gmail and Yahoo require it from bulk senders.
 */
export const judgeDmarc = (
  texts: ReadonlyArray<string>,
  organizational: { readonly name: string; readonly texts: ReadonlyArray<string> } | undefined = undefined
): Judgement => {
  const own = texts.filter(isDmarc)
  const inherited = own.length === 0 && organizational !== undefined
  const records = inherited ? organizational.texts.filter(isDmarc) : own
  const [record] = records
  if (record === undefined) {
    return judge(
      "missing",
      texts,
      "There is no DMARC record. It is not required, but Gmail and Yahoo require one from bulk senders. Publish this one."
    )
  }
  const from = inherited ? ` of ${organizational.name}` : ""
  return records.length > 1
    ? judge(
      "conflict",
      records,
      `There are ${records.length} DMARC records${from}, which invalidates them. Keep only one.`
    )
    : judgeOne(record, from)
}
