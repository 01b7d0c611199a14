import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { ContactsRepo } from "../../../../src/channels/whatsapp/directory/ContactsRepo.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const Subject = ContactsRepo.layer.pipe(
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32)))),
  Layer.provideMerge(TestDatabase.layer)
)

const person = (lid: string | undefined, phone: string | undefined, name?: string) => ({
  lid,
  phone,
  name,
  isNamed: false
})

layer(Subject, { excludeTestServices: true })("ContactsRepo", (it) => {
  it.effect("gives a phone number to its newest hidden number alone", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { learn, phones } = yield* ContactsRepo
      const { id } = yield* makeSessionRow(true)
      const known = phones({ id, lids: ["1@lid", "2@lid"] })
      yield* learn(id, [person("1@lid", "15550100300", "Ada")])
      assert.deepStrictEqual(yield* known, [{ lid: "1@lid", phone: "15550100300" }])
      yield* learn(id, [person("2@lid", "15550100300")])
      assert.deepStrictEqual(yield* known, [{ lid: "2@lid", phone: "15550100300" }])
      assert.deepStrictEqual(
        yield* sql`select lid, phone, name from whatsapp_contacts where session_id = ${id} order by lid`,
        [{ lid: "1@lid", phone: null, name: "Ada" }, { lid: "2@lid", phone: "15550100300", name: null }]
      )
    }))

  it.effect("trusts a check for an hour if the number had no WhatsApp, else for a day", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { check, storeCheck } = yield* ContactsRepo
      const { id } = yield* makeSessionRow(true)
      const isTrusted = Effect.fnUntraced(function*(whatsapp_id: string | null, minutes: number) {
        const phone = "15550100300"
        yield* storeCheck({ id, phone, whatsapp_id })
        yield* sql`update whatsapp_number_checks set checked_at = now() - ${minutes} * interval '1 minute'
          where session_id = ${id}`
        return Option.isSome(yield* check({ id, phone }))
      })
      assert.deepStrictEqual([yield* isTrusted(null, 59), yield* isTrusted(null, 61)], [true, false])
      const known = "15550100300@s.whatsapp.net"
      assert.deepStrictEqual([yield* isTrusted(known, 23 * 60), yield* isTrusted(known, 25 * 60)], [true, false])
    }))

  it.effect("keeps the name in the address book when the contact chooses another one, even if both were the same", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { learn } = yield* ContactsRepo
      const { id } = yield* makeSessionRow(true)
      yield* learn(id, [person("4@lid", undefined, "Cleo")])
      yield* learn(id, [{ ...person("4@lid", undefined, "Cleo"), isNamed: true }])
      yield* learn(id, [person("4@lid", undefined, "Cleopatra")])
      assert.deepStrictEqual(
        yield* sql`select name, is_named from whatsapp_contacts where session_id = ${id}`,
        [{ name: "Cleo", is_named: true }]
      )
    }))

  it.effect("joins the contact of a phone number with that of its hidden number when it learns that they are one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { learn } = yield* ContactsRepo
      const { id } = yield* makeSessionRow(true)
      yield* learn(id, [person(undefined, "15550100301", "Bo"), person("3@lid", undefined)])
      yield* learn(id, [person("3@lid", "15550100301")])
      assert.deepStrictEqual(
        yield* sql`select lid, phone from whatsapp_contacts where session_id = ${id}`,
        [{ lid: "3@lid", phone: "15550100301" }]
      )
    }))
})
