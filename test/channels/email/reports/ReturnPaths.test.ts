import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { createSecretKey } from "node:crypto"
import {
  readVerpLocalPart,
  readVerpToken,
  verpLocalPart,
  verpToken
} from "../../../../src/channels/email/reports/ReturnPaths.ts"
import { EmailMessageId } from "../../../../src/values/Ids.ts"

const key = createSecretKey(new Uint8Array(32).fill(7))
const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 31 }))

describe("a message's address", () => {
  it.prop("identifies its message in either case of letters", [EmailMessageId], ([id]) => {
    const local = verpLocalPart("b", key, id)
    assert.match(local, /^b\+[a-z2-7]{32}$/)
    assert.deepStrictEqual(readVerpLocalPart("b", key, local), Option.some(id))
    assert.deepStrictEqual(readVerpLocalPart("b", key, local.toUpperCase()), Option.some(id))
    assert.isTrue(Option.isNone(readVerpLocalPart("u", key, local)))
  })

  it.prop("is refused if one bit differs", [EmailMessageId, Place, Place], ([id, at, change]) => {
    const token = verpToken(key, id)
    const letter = alphabet[alphabet.indexOf(token[at] ?? "") ^ change] ?? ""
    const changed = token.slice(0, at) + letter + token.slice(at + 1)
    assert.strictEqual(Option.isSome(readVerpToken(key, changed)), change === 0)
  })

  it.prop(
    "is refused under another key, and any other text is refused",
    [Schema.String, EmailMessageId],
    ([text, id]) => {
      assert.isTrue(Option.isNone(readVerpLocalPart("b", key, text)))
      assert.isTrue(Option.isNone(readVerpLocalPart("b", key, `b+${text}`)))
      assert.isTrue(
        Option.isNone(readVerpLocalPart("b", createSecretKey(new Uint8Array(32).fill(8)), verpLocalPart("b", key, id)))
      )
      assert.isTrue(Option.isNone(readVerpLocalPart("b", key, ` ${verpLocalPart("b", key, id)}`)))
    }
  )
})
