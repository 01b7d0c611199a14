/** Passkeys of each kind that browsers make, without a browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ownerOf } from "../support/consolePeople.ts"
import { type Algorithm, type Attestation, newPasskey, type Wanted } from "../support/passkeys.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

const security = "/console/me/security"

layer(Service.layer(), { excludeTestServices: true })("a passkey", (it) => {
  /** Sends a page's form with what the browser answers. */
  const sends = Effect.fnUntraced(function*(
    { cookie, kind, path }: { readonly cookie: string; readonly kind: "create" | "get"; readonly path: string },
    answerOf: (wanted: Wanted) => string
  ) {
    const { port, request } = yield* Service
    const host = `localhost:${port}`
    const { headers, text } = yield* request("GET", path, { headers: { cookie, host } })
    const form = text.split("<form").find((one) => one.includes(`data-passkey="${kind}"`)) ?? ""
    const fields = [...form.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map((
      [, name = "", value = ""]
    ) => [name, value])
    const challenge = /&quot;challenge&quot;:&quot;([\w-]+)&quot;/.exec(form)?.[1] ?? ""
    const answer = answerOf({ challenge, host: "localhost", origin: `http://${host}` })
    return yield* request("POST", path, {
      headers: {
        cookie: [cookie, headers["set-cookie"]?.split(";")[0]].filter(Boolean).join("; "),
        host,
        "content-type": "application/x-www-form-urlencoded",
        "sec-fetch-site": "same-origin"
      },
      body: String(new URLSearchParams({ ...Object.fromEntries(fields), answer }))
    })
  })

  const adds = Effect.fnUntraced(function*(algorithm: Algorithm, attestation: Attestation) {
    const sql = yield* SqlClient.SqlClient
    const { accountId } = yield* makeAccount({ password: "correct horse battery staple" })
    const { cookie, personId } = yield* ownerOf(accountId)
    const passkey = newPasskey(algorithm)
    const sent = yield* sends(
      { cookie, kind: "create", path: security },
      (wanted) => passkey.created(wanted, attestation)
    )
    const stored = yield* Effect.orDie(sql`select id from passkeys where person_id = ${personId}`)
    return { passkey, sent, stored: stored.length }
  })

  it.effect("of each algorithm that the page asks for signs its person in", () =>
    Effect.gen(function*() {
      for (const algorithm of ["EdDSA", "ES256", "RS256"] as const) {
        const { passkey, sent, stored } = yield* adds(algorithm, { format: "none" })
        assert.deepStrictEqual([sent.status, sent.headers["location"], stored], [303, security, 1], algorithm)
        const signedIn = yield* sends({ cookie: "", kind: "get", path: "/console/sign-in" }, passkey.used)
        assert.strictEqual(signedIn.status, 303, algorithm)
        assert.match(signedIn.headers["set-cookie"] ?? "", /^console=lt_live_/, algorithm)
      }
    }))

  it.effect("is stored with an attestation that its own key has signed", () =>
    Effect.gen(function*() {
      const { sent, stored } = yield* adds("ES256", { format: "packed" })
      assert.deepStrictEqual([sent.status, stored], [303, 1])
    }))

  it.effect("is refused with certificates, and no node fetches the revocation list that they name", () =>
    Effect.gen(function*() {
      const receiver = yield* makeWebhookReceiver()
      const { sent, stored } = yield* adds("ES256", { format: "android-key", url: `${receiver.url}/revoked` })
      assert.deepStrictEqual([sent.status, stored], [422, 0])
      assert.include(sent.text, "answer proves no passkey. Try again.")
      assert.lengthOf(receiver.requests, 0)
    }))
})
