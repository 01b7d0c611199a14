import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result, Schema } from "effect"
import { parseSmtpUrl } from "../../../../src/channels/email/smtp/SmtpUrl.ts"

const plain = (url: string) => {
  const parsed = parseSmtpUrl(url)
  if (Result.isFailure(parsed)) return parsed.failure.reason
  const { credentials, ...address } = parsed.success
  const login = credentials === undefined ? {} : {
    login: [credentials.user, Redacted.value(credentials.password)]
  }
  return { ...address, ...login }
}

describe("parseSmtpUrl", () => {
  it("returns the port and TLS mode of both schemes", () => {
    const certificate = { verifyCertificate: true }
    assert.deepStrictEqual(plain("smtp://mx.example.com"), {
      host: "mx.example.com",
      port: 587,
      tls: "offered",
      ...certificate
    })
    assert.deepStrictEqual(plain("smtps://[::1]/"), { host: "::1", port: 465, tls: "implicit", ...certificate })
    assert.deepStrictEqual(plain("smtp://127.0.0.1:2525?tls=never&verify=false"), {
      host: "127.0.0.1",
      port: 2525,
      tls: "never",
      verifyCertificate: false
    })
  })

  it("requires encryption when a password leaves the machine", () => {
    for (
      const [url, tls] of [
        ["smtp://u:p@relay.example.com", "required"],
        ["smtp://u:p@localhost", "offered"],
        ["smtp://u:p@127.0.0.1", "offered"],
        ["smtp://u:p@relay.example.com?tls=offered", "offered"]
      ] as const
    ) {
      const parsed = plain(url)
      assert.strictEqual(typeof parsed === "object" && parsed.tls, tls, url)
    }
  })

  it.prop(
    "decodes any percent-encoded user and password",
    { user: Schema.NonEmptyString, password: Schema.NonEmptyString },
    ({ password, user }) => {
      if (!user.isWellFormed() || !password.isWellFormed()) return
      const parsed = plain(`smtps://${encodeURIComponent(user)}:${encodeURIComponent(password)}@relay.example.com`)
      assert.deepStrictEqual(typeof parsed === "object" && parsed.login, [user, password])
    }
  )

  it("explains an invalid URL without the password", () => {
    for (
      const url of [
        "relay.example.com",
        "http://u:hidden@relay.example.com",
        "smtp://",
        "smtp://u:hidden%zz@relay.example.com",
        "smtp://u:hidden%ff@relay.example.com",
        "smtp://:hidden@relay.example.com",
        "smtp://user@relay.example.com",
        "smtp://u:hidden@relay.example.com/inbox",
        "smtp://u:hidden@relay.example.com?tls=maybe",
        "smtps://u:hidden@relay.example.com?tls=never",
        "smtp://u:hidden@relay.example.com?timeout=1",
        "smtp://u:hidden@relay.example.com?name=me.example"
      ]
    ) {
      const reason = plain(url)
      assert.isString(reason, url)
      assert.notMatch(JSON.stringify(reason), /hidden/)
    }
  })
})
