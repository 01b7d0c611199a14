import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAccount, Service } from "../support/Service.ts"
import { assertRefused, endpoints, fill, withoutMeta } from "./contract.ts"
import { queries, rowFor, samples } from "./samples.ts"

/** Phone numbers are excluded: no account owns one. */
const withIds = endpoints.filter(({ path }) => !path.includes(":phone")).filter(({ path }) => path.includes(":"))

/** Values that are no valid ids; none may be accepted as another spelling of one. */
const malformed = [
  "abc",
  "0",
  "-1",
  "1.0",
  "0x1",
  "01",
  "%201",
  "1%20",
  "1e3",
  "NaN",
  "9007199254740993",
  "99999999999999999999",
  "%00",
  "%ff",
  "%F0%9F%90%88",
  "__proto__",
  "email_batch_",
  "email_batch_00000000000000000000000000",
  "..%2f1",
  "1'or'1'='1",
  "a".repeat(300)
]

describe("samples of the contract", () => {
  it("every path with an id has a function that creates a row", () => {
    assert.deepStrictEqual(withIds.filter(({ path }) => rowFor(path) === undefined).map(({ name }) => name), [])
  })
})

layer(Service.layer())("ids that the caller cannot access", (it) => {
  for (const { method, name, path } of withIds) {
    it.effect(`${name} returns the same 404 for an unknown, a foreign and a malformed id`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const [own, other] = [yield* makeAccount(), yield* makeAccount()]
        const ask = (key: string, ...ids: ReadonlyArray<string>) =>
          request(method, `${fill(path, ...ids)}${queries[path] ?? ""}`, {
            key,
            ...(method !== "GET" && { json: samples[name] ?? {} })
          })

        const ids = yield* rowFor(path)?.(request, other.key) ?? Effect.succeed([])
        const foreign = yield* ask(own.key, ...ids)
        assertRefused(foreign, 404, "not_found")
        for (const id of ["9007199254740991", "email_batch_01ARZ3NDEKTSV4RRFFQ69G5FAV", ...malformed]) {
          const answer = yield* ask(own.key, ...ids.slice(0, -1), id)
          assertRefused(answer, 404, "not_found")
          assert.deepStrictEqual(withoutMeta(answer), withoutMeta(foreign), id)
        }
        // The owner still has access to the row.
        assert.notStrictEqual((yield* ask(other.key, ...ids)).status, 404)
      }))
  }
})
