import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { asking } from "../support/bulkMail.ts"
import { makeAccount, Service } from "../support/Service.ts"

const channels = [
  {
    name: "email",
    texts: { subject: "Hello", html: "<p>Hello</p>" },
    fine: "ann@example.com",
    bad: "bounce@example.com"
  },
  { name: "sms", texts: { content: "Hello" }, fine: "+250788123456", bad: "+15005550001" }
]

layer(Service.layer(), { excludeTestServices: true })("list of batches", (it) => {
  for (const { bad, fine, name, texts } of channels) {
    it.effect(`${name} batches are listed newest or oldest first, in pages and by status, with the same data as each alone`, () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const other = yield* makeAccount()
        const list = (query = "", whose = key) => node.request("GET", `/v1/${name}/batches${query}`, { key: whose })
        const send = Effect.fnUntraced(function*(to: string) {
          const json = { ...texts, recipients: [to] }
          const { at } = yield* node.request("POST", `/v1/${name}/send-bulk`, { key, json })
          return String(at("data", "batch_id"))
        })
        const ids = yield* Effect.forEach([fine, bad, fine], send)
        const ended = yield* asking(
          list("?per_page=100"),
          ({ at }) => [0, 1, 2].every((index) => typeof at("data", index, "completed_at") === "string")
        )
        const listed = [0, 1, 2].map((index) => ended.at("data", index))
        assert.deepStrictEqual(ended.at("meta"), { total: 3, page: 1, per_page: 100, next_cursor: null })
        const single = yield* Effect.forEach(
          ids.toReversed(),
          (id) => node.request("GET", `/v1/${name}/batches/${id}`, { key })
        )
        assert.deepStrictEqual(listed, single.map(({ at }) => at("data")))
        const second = yield* list("?per_page=2&page=2")
        assert.deepStrictEqual(second.at("data"), [listed[2]])
        assert.include(second.headers["link"], `</v1/${name}/batches?per_page=2&page=1>; rel="prev"`)
        const oldest = yield* list("?sort=created_at")
        assert.deepStrictEqual(oldest.at("data"), listed.toReversed())
        assert.deepStrictEqual((yield* list("?sort=-created_at")).at("data"), listed)
        const failed = yield* list("?status=failed")
        assert.deepStrictEqual([failed.at("meta", "total"), failed.at("data", 0, "batch_id")], [1, ids[1]])
        const unsorted = yield* list("?sort=total")
        assertRefused(unsorted, 422, "validation_error")
        assert.include(unsorted.text, "sort: must be one of created_at, -created_at")
        assertRefused(yield* list("?status=sent"), 422, "validation_error")
        assert.deepStrictEqual((yield* list("", other.key)).at("data"), [])
      }))
  }
})
