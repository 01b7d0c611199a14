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
})
