import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { passwordFault } from "../../src/accounts/passwordFault.ts"

const ada = { name: "Ada Lovelace", email: "ada.lovelace@example.com" }

const weak: Readonly<Record<string, ReadonlyArray<string>>> = {
  "must not be one of the most common passwords": ["administrator", "123456789012", "1qaz2wsx3edc"],
  "must not resemble one of the most common passwords": [
    "password1234",
    "Password123!",
    "P@ssw0rd2026",
    "iloveyou1234",
    "ILoveYou!!!!",
    "ｐａｓｓｗｏｒｄ1234",
    "qwertyuiopas"
  ],
  "must not be a row of letters, digits or keys": ["qwertyuiop[]", "abcdefghijklm", "mlkjihgfedcba"],
  "must not repeat the same few characters": ["passwordpassword", "letmein!letmein!", "000000000000"],
  "must not be your name or your email address": ["Ada Lovelace", "ada.lovelace", "ada.lovelace@example.com"]
}

const strong = [
  "correct horse battery",
  "another horse battery",
  "the password is a secret",
  "Ada Lovelace and Babbage",
  "кошка на крыше ночью",
  "🐎🔋🖇️ and a horse",
  "8fJ2kd92ksDk"
]

describe("passwordFault", () => {
  for (const [message, passwords] of Object.entries(weak)) {
    for (const password of passwords) {
      it.effect(`a password such as ${password} is refused because it ${message}`, () =>
        Effect.gen(function*() {
          assert.strictEqual(yield* passwordFault(password, ada), message)
        }))
    }
  }

  for (const password of strong) {
    it.effect(`a password such as ${password} is accepted without signs or digits`, () =>
      Effect.gen(function*() {
        assert.isUndefined(yield* passwordFault(password, ada))
      }))
  }
})
