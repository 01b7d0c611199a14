/** Bulk mail as callers send it, and the time until its last outcome is stored. */
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { generateKeyPairSync } from "node:crypto"
import { sealedDkimKey } from "../../../src/email-domains/EmailDomains.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { html, recipients, subject } from "./mail.ts"
import type { makeAccounts } from "./service.ts"

/** Recipients of a batch. */
export const batchSize = 500

/** A sending domain, with its key. */
export const domain = "bench.example"
export const pem = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  .privateKey.export({ type: "pkcs8", format: "pem" }).toString()

/** An account with a key. */
export type Account = Effect.Success<ReturnType<typeof makeAccounts>>[number]

/** Gives the account that domain. */
export const verifyDomain = Effect.fnUntraced(function*({ accountId }: Account) {
  const sql = yield* SqlClient.SqlClient
  const { seal } = yield* Vault
  const sealed = seal(sealedDkimKey(accountId, domain), Buffer.from(pem))
  yield* sql`insert into email_domains (account_id, domain, status, dkim_private_key)
    values (${accountId}, ${domain}, 'verified', ${sealed})`
})

const post = (port: number, { key }: Account, from: string | undefined) =>
  Effect.promise(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/email/send-bulk`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ subject, html, recipients: recipients(batchSize), ...(from !== undefined && { from }) })
    })
    if (response.status !== 202) throw new Error(await response.text())
    await response.body?.cancel()
  })

const allDone = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select count(*) as open from email_batches where completed_at is null`.pipe(
    Effect.repeat({ until: ([row]) => row?.["open"] === 0, schedule: Schedule.spaced("20 millis") })
  )
})

/** Mails per second of `count` batches. */
export const send = Effect.fnUntraced(function*(
  port: number,
  account: Account,
  mail: { readonly count: number; readonly from?: string }
) {
  const startedAt = performance.now()
  yield* Effect.replicateEffect(post(port, account, mail.from), mail.count, { concurrency: 4, discard: true })
  yield* allDone
  return mail.count * batchSize / ((performance.now() - startedAt) / 1000)
})
