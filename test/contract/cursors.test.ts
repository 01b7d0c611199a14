import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type Answer, makeAccount, Service } from "../support/Service.ts"
import { assertRefused, fill, guarded } from "./contract.ts"
import { isList, queryOf } from "./document.ts"
import { rowFor, samples } from "./samples.ts"

/** Lists for test keys are read by cursor in test/journeys/testMode.test.ts. */
const ofAccounts = guarded.filter((endpoint) => isList(endpoint) && endpoint.rule.mode !== "test")

const lists = ofAccounts.filter((endpoint) => queryOf(endpoint).includes("cursor"))

type Item = Readonly<Record<string, unknown>>

const itemsOf = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.at("data") as ReadonlyArray<Item> // a list, by the contract
}

const idsOf = (answer: Answer) =>
  itemsOf(answer).map(({ batch_id, channel, email, id, reason, sender_id, since, status }) =>
    JSON.stringify([channel, id ?? batch_id ?? email ?? sender_id ?? [since, status, reason]])
  )

type Filler = (account: { readonly accountId: number; readonly key: string }) => Effect.Effect<
  ReadonlyArray<string>,
  never,
  Service | SqlClient.SqlClient
>

const thrice = (path: string): Filler => ({ key }) =>
  Effect.gen(function*() {
    const { request } = yield* Service
    const row = rowFor(path) ?? rowFor(`${path}/:id`) ?? rowFor(`${path}/:batch_id`) ?? rowFor(`${path}/:template_id`)
    for (let index = 0; index < 3; index++) yield* row?.(request, key) ?? Effect.void
    return []
  })

/** Creates three rows of a list, and returns the ids in its path. Those made by one statement have one `created_at`. */
const fillers: Readonly<Record<string, Filler>> = {
  "/v1/sms/sender-ids": () => Effect.succeed([]),
  "/v1/email/history": thrice("/v1/email/messages/:id"),
  "/v1/verify/status": ({ key }) =>
    Effect.gen(function*() {
      const { request } = yield* Service
      for (const name of ["b", "a", "c"]) {
        const json = { to: `${name}-${key.slice(-8)}@example.com`, channel: "email" }
        yield* request("POST", "/v1/verify/send", { key, json })
      }
      return []
    }),
  "/v1/email/suppressions": Effect.fnUntraced(function*({ accountId }) {
    const sql = yield* SqlClient.SqlClient
    yield* sql`insert into suppressions (account_id, email, reason)
      select ${accountId}, name || '@example.com', 'manual' from unnest(array['b', 'a', 'c']) as names (name)`
    return []
  }, Effect.orDie),
  "/v1/email/batches/:batch_id/recipients": Effect.fnUntraced(function*({ key }) {
    const { request } = yield* Service
    const json = {
      ...Object(samples["POST /v1/email/send-bulk"]),
      recipients: ["c@x.example", "a@x.example", "b@x.example"]
    }
    return [String((yield* request("POST", "/v1/email/send-bulk", { key, json })).at("data", "batch_id"))]
  }),
  "/v1/whatsapp/sessions/:id/states": Effect.fnUntraced(function*({ key }) {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const [id = ""] = yield* rowFor("/v1/whatsapp/sessions/:id")?.(request, key) ?? Effect.succeed([])
    yield* sql`insert into whatsapp_session_states (session_id, since, status, reason)
      select ${Number(id)}, now(), status, reason from (values ('connected', null), ('disconnected', 'replaced'),
        ('disconnected', 'connection_lost')) as s (status, reason)`
    return [id]
  }, Effect.orDie),
  "/v1/webhooks/:id/recoveries": Effect.fnUntraced(function*({ key }) {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const created = yield* request("POST", "/v1/webhooks", { key, json: samples["POST /v1/webhooks"] })
    const id = Number(created.at("data", "id"))
    yield* sql`insert into webhook_recoveries (webhook_id, since, until, statuses, position, ends_at, completed_at)
      select ${id}, now(), now(), array['failed'], 'evt_', 'evt_', now() from generate_series(1, 3)`
    return [String(id)]
  }, Effect.orDie),
  "/v1/webhooks/:id/deliveries": Effect.fnUntraced(function*({ key }) {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const json = { ...Object(samples["POST /v1/webhooks"]), is_active: false }
    const id = Number((yield* request("POST", "/v1/webhooks", { key, json })).at("data", "id"))
    yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
      select ${id}, 'evt_', 'email.sent', status from unnest(array['pending', 'retrying', 'pending']) as s (status)`
    return [String(id)]
  }, Effect.orDie)
}

describe("lists with cursors", () => {
  it("are all lists with pages", () => {
    assert.isAbove(lists.length, 12)
    assert.sameMembers(
      ofAccounts.filter((endpoint) => queryOf(endpoint).includes("page")).map(({ path }) => path),
      lists.filter((endpoint) => queryOf(endpoint).includes("page")).map(({ path }) => path)
    )
  })
})

layer(Service.layer())((it) => {
  describe("a cursor", () => {
    for (const endpoint of lists) {
      const { path } = endpoint

      it.effect(`leads through all rows of ${path} once, in their order, and without a total`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const account = yield* makeAccount()
          const at = fill(path, ...yield* (fillers[path] ?? thrice(path))(account))
          const get = (query: string) => request("GET", `${at}?${query}`, { key: account.key })
          for (const order of queryOf(endpoint).includes("sort") ? ["", "&sort=created_at"] : [""]) {
            const all = idsOf(yield* get(`per_page=100${order}`))
            if (path !== "/v1/sms/sender-ids") assert.isAtLeast(all.length, 3)
            const seen: Array<string> = []
            let cursor: unknown
            do {
              const answer = yield* get(`per_page=1${order}${cursor === undefined ? "" : `&cursor=${String(cursor)}`}`)
              seen.push(...idsOf(answer))
              if (cursor !== undefined) assert.hasAllKeys(answer.at("meta"), ["per_page", "next_cursor"])
              cursor = answer.at("meta", "next_cursor")
              const link = answer.headers["link"] ?? ""
              if (cursor === null) assert.notInclude(link, "cursor=")
              else assert.match(link, new RegExp(`cursor=${String(cursor)}[^>]*>; title="cursor"; rel="next"`))
            } while (cursor !== null && seen.length <= all.length)
            assert.deepStrictEqual(seen, all)
          }
        }))

      if (path === "/v1/sms/sender-ids") continue
      it.effect(`of ${path} is refused with 422 for another order, filter or account, and when it was changed`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const account = yield* makeAccount()
          const other = yield* makeAccount()
          const at = fill(path, ...yield* (fillers[path] ?? thrice(path))(account))
          const ask = (query: string, key = account.key) => request("GET", `${at}?per_page=1&${query}`, { key })
          const first = yield* ask("")
          const cursor = String(first.at("meta", "next_cursor"))
          const refuse = (answer: Answer, param = "cursor") => {
            assertRefused(answer, 422, "validation_error")
            assert.strictEqual(answer.at("error", "param"), param, answer.text)
          }
          const changed = `${cursor.startsWith("A") ? "B" : "A"}${cursor.slice(1)}`
          for (const bad of [changed, `${cursor}A`, cursor.slice(0, -1), "", "x", "WzFd", "%C3%A9"]) {
            refuse(yield* ask(`cursor=${bad}`))
          }
          const status = itemsOf(first)[0]?.["status"]
          const filters = queryOf(endpoint)
          if (filters.includes("sort")) refuse(yield* ask(`sort=created_at&cursor=${cursor}`))
          if (filters.includes("status")) refuse(yield* ask(`status=${String(status)}&cursor=${cursor}`))
          if (filters.includes("page")) refuse(yield* ask(`page=2&cursor=${cursor}`), "page")
          // A path with another account's row is unknown to it.
          if (!path.includes(":")) refuse(yield* ask(`cursor=${cursor}`, other.key))
          assert.strictEqual((yield* ask(`cursor=${cursor}`)).status, 200)
        }))
    }

    it.effect("leads on through the recipients of a batch after the row where it stands was deleted", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const account = yield* makeAccount()
        const path = "/v1/email/batches/:batch_id/recipients"
        const at = fill(path, ...yield* (fillers[path] ?? thrice(path))(account))
        const get = (query: string) => request("GET", `${at}?${query}`, { key: account.key })
        const all = itemsOf(yield* get("per_page=100"))
        assert.notProperty(all[0], "position")
        const cursor = String((yield* get("per_page=1")).at("meta", "next_cursor"))
        yield* sql`delete from email_messages where id = ${
          Number(all[0]?.["id"])
        } and account_id = ${account.accountId}`
        assert.deepStrictEqual(
          itemsOf(yield* get(`cursor=${cursor}`)).map(({ id }) => id),
          all.slice(1).map(({ id }) => id)
        )
      }))
  })
})
