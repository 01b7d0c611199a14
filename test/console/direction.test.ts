import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import { recipients } from "../../src/console/pages/messages/messageParts.ts"
import { html } from "../../src/platform/http/html.ts"

it.layer(Messages.layer)("texts from right to left", (it) => {
  it.effect("keep the direction of each value in Arabic, and add no mark in English", () =>
    Effect.gen(function*() {
      const messages = yield* Messages
      const values = { channel: "SMS", to: "+250788123456" }
      const arabic = yield* messages.in("ar")
      assert.strictEqual(arabic.direction, "rtl")
      assert.strictEqual(arabic.text("message.title", values), "\u2068SMS\u2069 إلى \u2068+250788123456\u2069")
      const english = yield* messages.in("en")
      assert.strictEqual(english.text("message.title", values), "SMS to +250788123456")
      // Markup brings its own direction.
      const rich = arabic.rich("message.title", { channel: "SMS", to: html`<bdi>+250788123456</bdi>` })
      assert.strictEqual(rich.markup, "\u2068SMS\u2069 إلى <bdi>+250788123456</bdi>")
      const { markup } = recipients({ t: arabic }, ["+250788123456", "+250788123457"])
      assert.strictEqual(markup, "<bdi>+250788123456</bdi> ومستلم آخر")
    }))
})
