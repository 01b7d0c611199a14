import { assert, describe, it } from "@effect/vitest"
import { Allowed } from "../../../src/platform/http/Allowed.ts"

const { methods, route } = Allowed.fromRoutes([
  { method: "GET", path: "/v1/things" },
  { method: "POST", path: "/v1/things" },
  { method: "DELETE", path: "/v1/things/:id" },
  { method: "GET", path: "/t/o/:token.gif" }
])

describe("Allowed", () => {
  it("returns the methods of a path, with HEAD if there is GET, and OPTIONS", () => {
    assert.deepStrictEqual(methods("/v1/things"), ["GET", "POST", "HEAD", "OPTIONS"])
    assert.deepStrictEqual(methods("/v1/things/"), ["GET", "POST", "HEAD", "OPTIONS"])
    assert.deepStrictEqual(methods("/v1/things/7"), ["DELETE", "OPTIONS"])
  })

  it("returns no methods for a path that does not exist", () => {
    for (const path of ["", "/", "/v1", "/v1/thingsx", "/v1/things/7/8", "/t/o/xgif"]) {
      assert.deepStrictEqual(methods(path), [], path)
    }
    assert.deepStrictEqual(methods("/t/o/x.gif"), ["GET", "HEAD", "OPTIONS"])
  })

  it("returns the route of a path, which has no id or token", () => {
    assert.strictEqual(route("/v1/things/7"), "/v1/things/:id")
    assert.strictEqual(route("/t/o/x.gif"), "/t/o/:token.gif")
    assert.isUndefined(route("/v1/secret"))
  })

  it("knows the routes that are added later, for methods and routes", () => {
    const later = Allowed.fromRoutes([])
    assert.deepStrictEqual(later.methods("/console/7"), [])
    later.add([{ method: "POST", path: "/console/:account" }])
    assert.deepStrictEqual(later.methods("/console/7"), ["POST", "OPTIONS"])
    assert.strictEqual(later.route("/console/7"), "/console/:account")
  })

  it("returns the path of the API that an unknown one may mean, by the method", () => {
    const { near } = Allowed.fromRoutes([
      { method: "POST", path: "/v1/email/send" },
      { method: "GET", path: "/v1/email/messages" },
      { method: "GET", path: "/v1/email/messages/:id" },
      { method: "GET", path: "/v1/email/templates" },
      { method: "POST", path: "/v1/sms/send" },
      { method: "GET", path: "/v1/webhooks" },
      { method: "GET", path: "/v1/webhooks/:id" },
      { method: "POST", path: "/v1/webhooks/:id/rotate-secret" },
      { method: "GET", path: "/secret" }
    ])
    for (
      const [method, path, meant] of [
        ["POST", "/v1/emails", "/v1/email/send"],
        ["GET", "/v1/emails", "/v1/email/messages"],
        ["POST", "/email/send", "/v1/email/send"],
        ["POST", "/v3/mail/send", "/v1/email/send"],
        ["POST", "/api/v1/Email/Send/", "/v1/email/send"],
        ["POST", "/v1/sms", "/v1/sms/send"],
        ["GET", "/v1/templates", "/v1/email/templates"],
        ["GET", "/v1/webhook/7", "/v1/webhooks/{id}"],
        ["GET", "/v1/email/message/7", "/v1/email/messages/{id}"],
        ["POST", "/v1/webhooks/7/rotate", undefined],
        ["GET", "/v1/nothing", undefined],
        ["GET", "/v1/7", undefined],
        ["GET", "/secre", undefined],
        ["GET", "/v1", undefined],
        ["GET", "/", undefined],
        ["GET", "/constructor/__proto__", undefined],
        ["GET", `/v1/${"email/".repeat(2_000)}`, undefined],
        ["GET", `/v1/email/${"x".repeat(8_000)}`, undefined]
      ] as const
    ) {
      assert.strictEqual(near(method, path), meant, `${method} ${path.slice(0, 50)}`)
    }
  })
})
