import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "./Service.ts"

/** Mails that the service sent to an address, newest first. */
export const mailsTo = Effect.fnUntraced(function*(email: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select subject, convert_from(raw, 'UTF8') as raw from sandbox_mails
    where recipient = ${email} order by id desc`
  return rows.map(({ raw, subject }) => ({ subject: String(subject), raw: String(raw).replaceAll(/=\r?\n/g, "") }))
})

/** Waits for the `count`th mail with this subject, and returns the newest one. */
export const mailTo = (email: string, subject: string, count = 1) =>
  Effect.map(
    eventually(
      Effect.map(mailsTo(email), (mails) => mails.filter((mail) => mail.subject.includes(subject))),
      (mails) => mails.length >= count
    ),
    ([mail]) => mail?.raw ?? ""
  )
