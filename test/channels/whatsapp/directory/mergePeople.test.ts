import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { mergePeople } from "../../../../src/channels/whatsapp/directory/mergePeople.ts"

describe("mergePeople", () => {
  const person = { lid: undefined, phone: undefined, name: undefined, isNamed: false }

  it("joins people who share an id, and prefers the name in the address book", () => {
    assert.deepStrictEqual(
      mergePeople([
        { ...person, lid: "1@lid", name: "Annie" },
        { ...person, phone: "15550001", name: "Ann Smith", isNamed: true },
        { ...person, lid: "1@lid", phone: "15550001" },
        { ...person, lid: "1@lid", name: "annie\u0000" },
        person
      ]),
      [{ lid: "1@lid", phone: "15550001", name: "Ann Smith", isNamed: true }]
    )
  })

  it.prop(
    "never returns one id twice",
    [Schema.Array(Schema.Struct({
      lid: Schema.Union([Schema.Literals(["1@lid", "2@lid"]), Schema.Undefined]),
      phone: Schema.Union([Schema.Literals(["1", "2"]), Schema.Undefined])
    }))],
    ([people]) => {
      const merged = mergePeople(people.map((one) => ({ ...person, ...one })))
      const lids = merged.flatMap(({ lid }) => lid ?? [])
      const phones = merged.flatMap(({ phone }) => phone ?? [])
      return new Set(lids).size === lids.length && new Set(phones).size === phones.length
    }
  )
})
