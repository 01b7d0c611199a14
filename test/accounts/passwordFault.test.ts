import { assert, describe, it } from "@effect/vitest"
import { passwordFault } from "../../src/accounts/passwordFault.ts"

const ada = { name: "Ada Lovelace", email: "ada.lovelace@example.com" }

describe("a password", () => {
  it("must not be what many people take, however they dress it up", () => {
    const common = [
      "password1234",
      "Password123!",
      "P@ssw0rd2026",
      "passwordpassword",
      "1234welcome1234",
      "qwertyuiop[]",
      "administrator",
      "letmein!letmein!",
      "iloveyou1234",
      "ILoveYou!!!!",
      "ｐａｓｓｗｏｒｄ1234",
      "correcthorsebatterystaple"
    ]
    for (const password of common) assert.isDefined(passwordFault(password, ada), password)
  })

  it("must not walk along the keys, the digits or the alphabet", () => {
    for (
      const password of [
        "123456789012",
        "qwertyuiopas",
        "abcdefghijklm",
        "mlkjihgfedcba",
        "1qaz2wsx3edc",
        "000000000000"
      ]
    ) {
      assert.isDefined(passwordFault(password, ada), password)
    }
  })

  it("must not be its owner's name or address", () => {
    for (const password of ["Ada Lovelace", "adalovelace1815", "ada.lovelace", "ada.lovelace@example.com"]) {
      assert.isDefined(passwordFault(password, ada), password)
    }
  })

  it("may be anything else, without rules for signs and digits", () => {
    for (
      const password of [
        "correct horse battery",
        "another horse battery",
        "the password is a secret",
        "Ada Lovelace and Babbage",
        "кошка на крыше ночью",
        "🐎🔋🖇️ and a horse",
        "8fJ2kd92ksDk"
      ]
    ) assert.isUndefined(passwordFault(password, ada), password)
  })
})
