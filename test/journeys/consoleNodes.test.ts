/** Pages that stay open while two nodes share the work, and one of them dies. */
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import * as NodeNet from "node:net"
import { chromium, openPage } from "../support/Chromium.ts"
import { signedInAs, signInOf } from "../support/consolePeople.ts"
import { shows } from "../support/look.ts"
import { makeRawServer } from "../support/RawServer.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create, happen, hasten } from "../support/webhookStories.ts"

/** A second node, and an address that leads to the node of `to`, as a load balancer does. */
class Front extends Context.Service<Front, {
  readonly url: string
  readonly second: RunningNode
  to: RunningNode
}>()("messaging-service/test/journeys/consoleNodes.test/Front") {
  static readonly layer = Layer.effect(
    Front,
    Effect.gen(function*() {
      const { sink } = yield* Relay
      const second = yield* startNode({ smtpPort: sink.port })
      const { url } = yield* makeRawServer((socket) => {
        const onward = NodeNet.connect(front.to.port, "127.0.0.1")
        for (const [from, to] of [[socket, onward], [onward, socket]] as const) {
          from.on("error", () => to.destroy())
          from.pipe(to)
        }
      })
      const front = { url, second, to: second }
      return front
    })
  ).pipe(Layer.provideMerge(Relay.layer()))
}

const isShownFirst = `document.querySelector(".attention li")?.textContent.includes("is unhealthy") === true`

/** How often the page has loaded itself. */
const loads = `performance.getEntriesByType("resource").filter(({ initiatorType }) => initiatorType === "fetch").length`

layer(Front.layer, { excludeTestServices: true })("an open page of two nodes", (it) => {
  const visit = Effect.gen(function*() {
    const front = yield* Front
    const { accountId, key } = yield* makeAccount()
    const { personId, token } = yield* signedInAs(accountId, "owner")
    const page = yield* openPage
    yield* page.command("Network.enable")
    yield* page.command("Network.setCookie", { name: "console", value: token, url: front.url })
    yield* page.open(`${front.url}/console/${accountId}/`)
    // A load of the whole page would remove this.
    yield* page.evaluate("window.isSame = true")
    return { first: yield* Service, front, key, page, personId }
  })

  it.effect.skipIf(chromium === undefined)(
    "leads to the sign-in once the person ends all other sign-ins on the other node",
    () =>
      Effect.gen(function*() {
        const { first, page, personId } = yield* visit
        const { cookie } = yield* signInOf(personId)
        const path = "/console/me/security/end-others"
        const { text } = yield* first.request("GET", path, { headers: { cookie } })
        const form = text.split("<form").find((one) => one.includes(`value="end-others"`)) ?? ""
        const fields = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
        const sent = yield* first.request("POST", path, {
          headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
          body: String(
            new URLSearchParams(Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, value])))
          )
        })
        assert.strictEqual(sent.headers["location"], "/console/me/security")
        yield* page.until(`location.pathname === "/console/sign-in"`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "shows first a webhook that the other node found unhealthy, survives its node, and shows there that it works again",
    () =>
      Effect.gen(function*() {
        const { first, front, key, page } = yield* visit
        const receiver = yield* makeWebhookReceiver({ script: [410] })
        const { id } = yield* create(first, key, { url: receiver.url, events: ["email.bulk_completed"] })
        // Something else stood there.
        assert.strictEqual(yield* page.evaluate(isShownFirst), false)
        assert.strictEqual(yield* page.evaluate(`document.querySelector(".attention li") !== null`), true)
        yield* happen(first, key)
        yield* eventually(
          Effect.andThen(hasten(id), first.request("GET", `/v1/webhooks/${id}`, { key })),
          ({ at }) => at("data", "status") === "unhealthy",
          longer.turn
        )
        const before = Number(yield* page.evaluate(loads))
        yield* page.evaluate(`(() => {
          const note = () => { if (${isShownFirst}) window.shownAt ??= ${loads} }
          new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true })
          note()
        })()`)
        yield* page.until("window.shownAt !== undefined")
        // The load that was under way, and the next one: two seconds after the last one ended.
        assert.isAtMost(Number(yield* page.evaluate("window.shownAt")) - before, 2)
        yield* front.second.kill
        yield* page.until(shows("This page is out of date"))
        front.to = first
        const repaired = yield* first.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: true } })
        assert.strictEqual(repaired.at("data", "status"), "active", repaired.text)
        yield* page.until(`!(${isShownFirst}) && document.querySelector("[data-stale]").textContent === ""`)
        assert.strictEqual(yield* page.evaluate("isSame"), true)
      })
  )
})
