import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { FindMyWay } from "effect/http"
import { AcceptancePathsLayer } from "../../../src/app/server/Routes.ts"
import { AcceptancePaths } from "../../../src/platform/work/Overload.ts"

/** A router with the endpoints of the test that accept messages. */
const router = FindMyWay.make<true>({ caseSensitive: true, maxParamLength: 1000 })
router.on("POST", "/v1/email/send", true)
router.on("POST", "/v1/email/batches/:batch_id/resend", true)

layer(AcceptancePathsLayer)("the paths that accept messages", (it) => {
  it.effect("are known in each spelling that the router takes, and in no other", () =>
    Effect.gen(function*() {
      const { has } = yield* AcceptancePaths
      const spellings: ReadonlyArray<readonly [string, boolean]> = [
        ["/v1/email/send", true],
        ["/v1/email/send/", true],
        ["//v1/email/send", true],
        ["/v1///email//send//", true],
        ["/v1/email/send;a=1", true],
        ["/v1/email/send#a", true],
        ["/v1/email/%73end", true],
        ["http://example.com/v1/email/send", true],
        ["/v1/email/batches/7/resend", true],
        ["//v1/email/batches/7%2F8/resend/", true],
        ["/v1/email/batches//resend", false],
        ["/v1/email/Send", false],
        ["/v1/email/send/7", false],
        ["/v1/email%2Fsend", false],
        ["/v1/email/send%3Fa", false],
        ["/v1/email/%", false],
        ["", false]
      ]
      for (const [path, isRouted] of spellings) {
        assert.deepStrictEqual([has(path), router.find("POST", path)?.handler ?? false], [isRouted, isRouted], path)
      }
    }))
})
