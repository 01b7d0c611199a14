/** The console in all its languages, in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Locale } from "../../src/values/Locale.ts"
import { assertAccessible } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { makeAccount, Service } from "../support/Service.ts"

/** The owner of an account that has a message and a webhook, signed in. */
const visit = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const email = { to: "ada@example.com", subject: "Hello", text: "Hello" }
  const sent = yield* node.request("POST", "/v1/email/send", { key, json: email })
  const webhook = { url: "https://shop.example/hooks", events: ["*"] }
  const made = yield* node.request("POST", "/v1/webhooks", { key, json: webhook })
  assert.deepStrictEqual([sent.status, made.status], [202, 201])
  const { token } = yield* signedInAs(accountId, "owner")
  const page = yield* openPage
  const origin = node.baseUrl.replace("127.0.0.1", "localhost")
  yield* page.command("Network.enable")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: origin, httpOnly: true })
  return { page, origin, base: `${origin}/console/${accountId}`, webhookId: made.at("data", "id") }
})

/** Changes the language on the person's own page. The page that follows speaks it. */
const speak = Effect.fnUntraced(function*(page: BrowserPage, origin: string, locale: Locale) {
  yield* page.open(`${origin}/console/me`)
  yield* page.until(`document.querySelector("main [name=locale]") !== null`)
  yield* page.evaluate(`document.querySelector("main [name=locale]").value = "${locale}"`)
  yield* page.click("main form.form .buttons button")
  yield* page.until(
    `document.querySelector("[role=status] .note") !== null && document.documentElement.lang === "${locale}"`
  )
})

/** Where the middle of an element is, across the page. */
const middle = (selector: string) =>
  `(({ left, right }) => (left + right) / 2)(document.querySelector(${
    JSON.stringify(selector)
  }).getBoundingClientRect())`

/** Types into a form and sends it. Gives the faults by the names of their fields. */
const refuse = Effect.fnUntraced(
  function*(page: BrowserPage, address: string, fields: Readonly<Record<string, string>>) {
    yield* page.open(address)
    for (const [name, value] of Object.entries(fields)) {
      yield* page.evaluate(`document.querySelector("main .form [name=${name}]").value = ${JSON.stringify(value)}`)
    }
    yield* page.click("main form.form .buttons button")
    yield* page.until(`document.readyState === "complete" && document.querySelector(".problem") !== null`)
    const faults = yield* page.evaluate(
      `JSON.stringify(Object.fromEntries([...document.querySelectorAll(".fault")].map((one) =>
        [one.id.replace(/^f-|-fault$/g, ""), one.textContent.replace(/[\\u2066-\\u2069]/g, "")]
      )))`
    )
    const decoded: unknown = JSON.parse(String(faults))
    return decoded
  }
)

const mail = {
  to: "ada@example.com, bob",
  from: "Shop, Ltd <shop@example.com>",
  subject: "x".repeat(1000),
  text: "Hello",
  tags: "two! words"
}

layer(Service.layer(), { excludeTestServices: true })("the console's languages", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person reads in their language what is wrong with each field of a refused form",
    () =>
      Effect.gen(function*() {
        const { base, page } = yield* visit
        assert.deepStrictEqual(yield* refuse(page, `${base}/keys/new?lang=fr`, {}), {
          name: "Ce champ est obligatoire."
        })
        assert.deepStrictEqual(yield* refuse(page, `${base}/keys/new?lang=fr`, { name: "x".repeat(300) }), {
          name: "C’est trop long. Utilisez au plus 100 caractères."
        })
        const sms = { to: "+250788123456", content: "я".repeat(1500) }
        assert.deepStrictEqual(yield* refuse(page, `${base}/send?channel=sms&lang=de`, sms), {
          content: "Der Text braucht mehr Segmente, als eine SMS haben darf. Kürzen Sie ihn."
        })
        assert.deepStrictEqual(yield* refuse(page, `${base}/send?channel=email&lang=sw`, mail), {
          to: "Ingizo 2: Andika anwani ya barua pepe yenye @ moja tu, kama vile name@example.com.",
          from: "Andika anwani hivi: \"Example, Inc.\" <name@example.com>.",
          subject: "Ni ndefu mno. Tumia herufi zisizozidi 500.",
          tags: "Lebo ina herufi, tarakimu au alama _ . : - kuanzia 1 hadi 64. Ibadilishe."
        })
        assert.deepStrictEqual(yield* refuse(page, `${base}/send?channel=email&lang=ar`, mail), {
          to: "المدخل 2: اكتب عنوان البريد الإلكتروني بعلامة @ واحدة، مثل name@example.com.",
          from: "اكتب العنوان هكذا: \"Example, Inc.\" <name@example.com>.",
          subject: "النص طويل جدًا. الحد الأقصى لعدد الأحرف: 500.",
          tags: "يتكون الوسم من 1 إلى 64 من الحروف اللاتينية أو الأرقام أو الرموز _ . : -. غيّره."
        })
        yield* assertAccessible(page)
        assert.strictEqual(
          yield* page.evaluate(`getComputedStyle(document.querySelector("#f-to-fault")).direction`),
          "rtl"
        )
        const foreign = { to: "ada@example.com", from: "shop@elsewhere.example", subject: "Hello", text: "Hello" }
        assert.deepStrictEqual(yield* refuse(page, `${base}/send?channel=email&lang=ar`, foreign), {
          from: "لم يتم التحقق من نطاق المرسل. تحقق منه في صفحة «النطاقات»، أو اترك المرسل فارغًا."
        })
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person chooses each language, and its pages have no fault in a wide and a narrow window, light and dark",
    () =>
      Effect.gen(function*() {
        const { base, origin, page, webhookId } = yield* visit
        const titles = new Set<unknown>()
        for (const locale of Locale.literals) {
          yield* speak(page, origin, locale)
          for (const path of ["/messages", `/webhooks/${webhookId}`]) {
            yield* page.open(`${base}${path}`)
            yield* page.until(`document.documentElement.lang === "${locale}"`)
            yield* assertAccessible(page)
          }
          yield* page.open(`${base}/`)
          yield* assertAccessible(page)
          titles.add(yield* page.evaluate("document.querySelector('h1').textContent"))
        }
        assert.strictEqual(titles.size, Locale.literals.length)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "Arabic pages run from right to left, and ids, keys and addresses from left to right",
    () =>
      Effect.gen(function*() {
        const { base, origin, page, webhookId } = yield* visit
        const size = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false }
        yield* page.command("Emulation.setDeviceMetricsOverride", size)
        yield* speak(page, origin, "ar")
        yield* page.open(`${base}/messages`)
        yield* page.until(`document.dir === "rtl" && document.querySelector(".list tbody tr") !== null`)
        const at = (selector: string) => Effect.map(page.evaluate(middle(selector)), Number)
        assert.isAbove(yield* at("details.nav"), yield* at("main"), "The navigation is at the right.")
        assert.isAbove(yield* at(".list th:first-child"), yield* at(".list th:last-child"))
        yield* page.open(`${base}/webhooks/${webhookId}`)
        yield* page.until("document.querySelector('main code') !== null")
        const directions = yield* page.evaluate(
          "[...new Set([...document.querySelectorAll('code, pre')].map((one) => getComputedStyle(one).direction))].join()"
        )
        assert.strictEqual(directions, "ltr")
        assert.notMatch(String(yield* page.evaluate("document.body.textContent")), /[\u0660-\u0669]/)
      })
  )
})
