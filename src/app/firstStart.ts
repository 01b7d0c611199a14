import { Console, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../accounts/Accounts.ts"
import { ApiKeys } from "../api-keys/ApiKeys.ts"
import { Database, DatabaseAddress } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { EmailAddress } from "../values/EmailAddress.ts"

const tour = (base: string, key: string) => `
Your account is ready (Business plan). This API key is shown only once:

  ${key}

Try it in another terminal:

  curl ${base}/v1/api-keys -H 'Authorization: Bearer ${key}'

  curl ${base}/v1/email/send-bulk -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"subject":"Hello {{name}}","html":"<p>Dear {{name}}, welcome.</p>","recipients":[{"to":"ada@example.com","variables":{"name":"Ada"}}]}'

  curl ${base}/sandbox/mail -H 'Accept: application/json'

  curl ${base}/v1/whatsapp/sessions -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
    -d '{"name":"Shop"}'

Sent mail: ${base}/sandbox/mail
A phone that scans the session's QR code: ${base}/sandbox/phones
All endpoints: ${base}/docs
Another key: npm run cli -- account key 1
`

/** Creates the first account, if there is none. Of several nodes that start at once, one creates it. */
const firstAccount = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const accounts = yield* Accounts
  const keys = yield* ApiKeys
  return yield* transaction(Effect.gen(function*() {
    yield* Query.run(sql`lock table accounts in share row exclusive mode`)
    if ((yield* accounts.list).length > 0) return undefined
    const account = yield* Effect.orDie(accounts.create({
      name: "First account",
      email: EmailAddress.make("owner@localhost.localdomain"),
      plan: "business",
      trial: false
    }))
    return (yield* Effect.orDie(keys.create(account.id, { name: "First key" }))).key
  }))
})

/** On the first start of an empty embedded database: prints an API key and commands to paste. */
export const welcome = Effect.fnUntraced(function*(base: string) {
  const { isEmbedded } = yield* DatabaseAddress
  if (!isEmbedded) return
  const key = yield* firstAccount
  if (key !== undefined) yield* Console.log(tour(base, key))
})
