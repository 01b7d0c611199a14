import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { EmailsRepo } from "../../../../src/channels/email/single/EmailsRepo.ts"
import { ulid } from "../../../../src/platform/crypto/ids.ts"
import { EmailMessageId } from "../../../../src/values/Ids.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

layer(EmailsRepo.layer.pipe(Layer.provideMerge(TestDatabase.layer)), { excludeTestServices: true })(
  "EmailsRepo",
  (it) => {
    it.effect("reads only the values that a batch's subject names, if a recipient has many", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { find } = yield* EmailsRepo
        const { accountId } = yield* makeAccount()
        const batch = `email_batch_${yield* ulid}`
        yield* sql`insert into email_batches (id, account_id, from_address, subject, html, total)
          values (${batch}, ${accountId}, 'a@b.example', 'For {{ user.name | you }}, {{{{{{n}}', 'h', 1)`
        const small = { user: { name: "Ada", city: "Kigali" }, n: 7, html: "x" }
        const large = { ...small, html: randomBytes(100_000).toString("base64") }
        const found: Array<unknown> = []
        for (const variables of [small, large]) {
          const [row] = yield* sql`insert into email_messages (account_id, batch_id, position, recipient, variables)
            values (${accountId}, ${batch}, ${found.length}, 'a@b.example', ${
            JSON.stringify(variables)
          }::jsonb) returning id`
          const record = yield* find({ accountId, id: EmailMessageId.make(Number(row?.["id"])) })
          found.push(Option.getOrUndefined(record)?.variables)
        }
        assert.deepStrictEqual(found, [small, { user: small.user, n: 7 }])
      }))
  }
)
