import { assert, describe, it } from "@effect/vitest"
import { accountTables, faultsIn, shapeOf, staleParts, unnamedIn } from "./statements.ts"

describe("statements on rows of accounts", () => {
  it("the tables are those with an account_id", () => {
    assert.includeMembers([...accountTables], ["email_messages", "idempotency_records", "messages", "webhooks"])
    assert.isFalse(accountTables.has("accounts"))
    assert.isFalse(accountTables.has("whatsapp_contacts"))
  })

  for (
    const statement of [
      "select id from email_messages where account_id = $1",
      "select m.id from email_messages m join email_batches b on b.id = m.batch_id where b.account_id = $1",
      "select from whatsapp_contacts c where exists (select from whatsapp_sessions s where s.account_id = $1)",
      "insert into suppressions (account_id, email) values ($1, $2)",
      "insert into suppressions (account_id, email) select account_id, $1 from webhooks where account_id = $2",
      "delete from suppressions s using webhooks w where (s.account_id, s.email) = ($1, $2)",
      "select m.id from messages m join failovers f on f.account_id = m.account_id where f.account_id = $1",
      "select m.id from messages m join failovers f using (account_id) where account_id = $1",
      "select m.id from messages m join unnest($1, $2) as t (account_id, id) on m.account_id = t.account_id and m.id = t.id",
      "select m.id from messages m where m.account_id = $1 and exists (select from failovers where account_id = m.account_id)",
      "select $1 from rate_limits",
      "select 'from messages'",
      "with messages as (select from cluster_messages) select from messages"
    ]
  ) {
    it(`accepts ${statement}`, () => {
      assert.deepStrictEqual(unnamedIn(statement), [])
    })
  }

  for (
    const [statement, tables] of [
      ["select id, account_id from email_messages where id = $1", ["email_messages"]],
      [
        "select from whatsapp_contacts c join whatsapp_sessions s on s.id = c.session_id where s.status = $1",
        ["whatsapp_sessions"]
      ],
      [
        "select m.id from email_messages m where m.account_id = $1 and not exists (select from suppressions s where s.email = m.recipient)",
        ["suppressions"]
      ],
      ["insert into suppressions (account_id, email) select account_id, $1 from webhooks", ["webhooks"]],
      ["select 1 from messages where account_id = $1 union all select 1 from webhooks", ["webhooks"]],
      ["with due as (select id from webhooks for update) update webhooks set url = $1 where account_id = $2", [
        "webhooks"
      ]],
      ["update messages set status = $1 where id = $2", ["messages"]],
      ["select m.id from messages m join failovers f on f.account_id = m.account_id where m.id = $1", [
        "messages",
        "failovers"
      ]],
      ["select 1 from messages m, failovers f where (m.account_id, m.failover_id) = (f.account_id, f.id)", [
        "messages",
        "failovers"
      ]],
      ["select 1 from messages join failovers using (account_id) where failovers.id = $1", ["messages", "failovers"]],
      ["update messages m set status = $1 from failovers f where m.account_id is not distinct from f.account_id", [
        "messages",
        "failovers"
      ]],
      ["delete from accounts a using api_keys k where k.id = a.id", ["api_keys"]]
    ] as const
  ) {
    it(`refuses ${statement}`, () => {
      assert.deepStrictEqual(unnamedIn(statement), tables)
    })
  }

  it("a statement that is allowed to name no account for one table has to for the others", () => {
    const claim =
      "update email_messages m set status = $, due_at = now(), claims = m.claims + $ from chosen where m.id = chosen.id and exists (select from suppressions)"
    assert.deepStrictEqual(faultsIn(claim), ["suppressions"])
  })

  it("every part in the list of allowed statements is in a source", () => {
    assert.deepStrictEqual(staleParts, [])
  })

  it("an apostrophe in a comment begins no text, and hyphens in a text begin no comment", () => {
    const plain = shapeOf("select a from t where b = 'x' and c = 'y'")
    assert.strictEqual(shapeOf("select a -- the row's own\n from t where b = 'x' and c = 'y'"), plain)
    assert.strictEqual(shapeOf("select a /* the row's */ from t where b = '--' and c = 'it''s -- so'"), plain)
    assert.deepStrictEqual(unnamedIn("select a -- the row's\n from webhooks where url = 'x'"), ["webhooks"])
  })

  it("two statements that differ in values, comments and spaces have one shape", () => {
    assert.strictEqual(
      shapeOf("select a -- first\n from t where b in ( $1, $2,\n $3 ) and c = 'x'"),
      shapeOf("select a from t where b in ($4 /*, ... */) and c = $5")
    )
  })
})
