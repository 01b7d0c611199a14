import type { Judgement, RecordStatus } from "./EmailDomain.ts"

/** More than this of what strangers publish is neither stored nor shown. */
const most = { records: 10, characters: 1_000 }

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u001f\u007f]/g

/** As it may stand in JSON and in PostgreSQL: a TXT record may hold any byte, NUL included. */
const printable = (text: string) =>
  text.slice(0, most.characters).toWellFormed().replaceAll(
    control,
    (sign) => `\\${sign.charCodeAt(0).toString().padStart(3, "0")}`
  )

/** What is said about a record, with what was found in its place; the sentence tells its owner what to do. */
export const judge = (status: RecordStatus, found: ReadonlyArray<string>, detail: string): Judgement => ({
  status,
  found: found.slice(0, most.records).map(printable),
  detail
})

/** Said when the name servers did not answer: it says nothing about the record. */
export const unanswered = (reason: string): Judgement =>
  judge("temporary_error", [], `${reason}. This says nothing about the record; check again in a few minutes.`)
