import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { insertDomain } from "../support/bulkMail.ts"
import { type Answer, eventually, makeAccount, type RequestOptions, Service } from "../support/Service.ts"
import { assertRefused, endpoints, fill, guarded } from "./contract.ts"
import { bodyOf, isList, queryOf } from "./document.ts"
import { connectedSession, rowFor, samples } from "./samples.ts"

/**
 * A timeline is under the id of its message, whose owner another test checks. Lists for test keys are compared in
 * test/journeys/testMode.test.ts.
 */
const lists = guarded.filter((endpoint) =>
  isList(endpoint) && !endpoint.path.endsWith("/timeline") && endpoint.rule.mode !== "test"
)

/** Lists that are the same for every account. */
const shared: ReadonlySet<string> = new Set(["/v1/sms/sender-ids"])

/** Query parameters that choose an order, a page or a time. Cursors are tested in test/contract/cursors.test.ts. */
const ordering: ReadonlySet<string> = new Set([
  "cursor",
  "page",
  "per_page",
  "sort",
  "granularity",
  "timezone",
  "from_date",
  "to_date"
])

/** The path of one row of a list, where it is not the list's own with an id. */
const rowPaths: Readonly<Record<string, string>> = {
  "/v1/whatsapp/contacts": "/v1/whatsapp/contacts",
  "/v1/messages": "/v1/messages",
  "/v1/email/messages": "/v1/email/batches/:batch_id",
  "/v1/email/history": "/v1/email/batches/:batch_id",
  "/v1/sms/messages": "/v1/sms/batches/:batch_id",
  "/v1/whatsapp/messages": "/v1/whatsapp/batches/:batch_id",
  "/v1/account/usage/daily": "/v1/email/messages/:id",
  "/v1/account/stats": "/v1/email/messages/:id",
  "/v1/account/attention": "/v1/account/attention",
  "/v1/account/members": "/v1/account/members",
  "/v1/email/batches/:batch_id/recipients": "/v1/email/batches/:batch_id",
  "/v1/webhooks/:id/deliveries": "/v1/webhooks/:id/deliveries",
  "/v1/webhooks/:id/recoveries": "/v1/webhooks/:id/recoveries/:recovery_id",
  "/v1/whatsapp/sessions/:id/states": "/v1/whatsapp/sessions/:id"
}

/** Creates a row of a list, and returns the ids in the list's path. */
const rowOf = (path: string) =>
  rowFor(rowPaths[path] ?? endpoints.find((endpoint) => endpoint.path.startsWith(`${path}/:`))?.path ?? "")

type Item = Readonly<Record<string, unknown>>

const itemsOf = (answer: Answer) => {
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.at("data") as ReadonlyArray<Item> // a list, by the contract
}

/** An item without an id is known by all its fields, among them its time in microseconds. */
const identity = (item: Item) => item["id"] ?? JSON.stringify(item)

/** What finds an item by a filter that is no field of it. */
const sought: Readonly<Record<string, (item: Item) => unknown>> = {
  chat: ({ to }) => to,
  domain: () => "localhost.localdomain",
  error_code: () => "not_on_whatsapp",
  error_type: ({ error }) => Object(error).type,
  message: () => "sms/4711",
  q: ({ name, phone, preview }) => [name, phone, preview],
  recipient: () => "ada@example.com",
  request_id: ({ id }) => id,
  tag: () => "spring"
}

/** Values that find an item by a filter: its field of that name, or what the table has. */
const valuesFor = (filter: string, item: Item) =>
  [sought[filter]?.(item) ?? item[filter]].flat().filter((value) => value !== undefined && value !== null).map(String)

describe("lists of the contract", () => {
  it("every list has a function that creates a row of it, or is the same for every account", () => {
    assert.isAbove(lists.length, 15)
    assert.deepStrictEqual(
      lists.map(({ path }) => path).filter((path) => rowOf(path) === undefined && !shared.has(path)),
      []
    )
  })
})

layer(Service.layer())((it) => {
  describe("lists of two accounts", () => {
    for (const endpoint of lists.filter(({ path }) => !shared.has(path))) {
      const { name, path } = endpoint

      it.effect(`${name} shows nothing of another account, and every filter of it finds only the other's rows`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
          const create = (key: string) => rowOf(path)?.(request, key) ?? Effect.succeed([])
          const asking = (key: string, ids: ReadonlyArray<string>) => (query = "") =>
            request("GET", `${fill(path, ...ids)}${query}`, { key })
          // A list under the id of a row is asked for an own row.
          const own = asking(mine.key, path.includes(":") ? yield* create(mine.key) : [])
          const foreign = asking(theirs.key, path.includes(":") ? yield* create(theirs.key) : [])
          // An account has a key and its owner from the start.
          const known = path.includes(":") ? [] : itemsOf(yield* own())
          const isOwn = path === "/v1/api-keys" || path === "/v1/account/members"
            ? ({ id }: Item) => known.some((item) => item["id"] === id)
            : () => false

          if (!path.includes(":")) yield* create(theirs.key)
          const listed = itemsOf(
            yield* eventually(
              foreign(),
              ({ at }) => Object(at("data")).length > (path.includes(":") ? 0 : known.length)
            )
          )
          const check = (answer: Answer, query: string) => {
            if (path.includes(":")) {
              const ids = listed.map(identity)
              assert.deepStrictEqual(itemsOf(answer).filter((item) => ids.includes(identity(item))), [], query)
            } else {
              assert.deepStrictEqual(itemsOf(answer).filter((item) => !isOwn(item)), [], query)
              assert.include([undefined, 0], answer.at("meta", "total"), query)
            }
          }
          check(yield* own(), "")
          const sessions = yield* request("GET", "/v1/whatsapp/sessions", { key: theirs.key })
          const origin: Item = { key_id: theirs.keyId, session_id: sessions.at("data", 0, "id") }
          for (const filter of queryOf(endpoint).filter((each) => !ordering.has(each))) {
            const values = new Set([...listed, origin].flatMap((item) => valuesFor(filter, item)))
            assert.isNotEmpty([...values], `${filter} has no value in the rows, and none in \`sought\``)
            for (const value of values) {
              const query = `?${filter}=${encodeURIComponent(value)}`
              // A status may have changed since. Searches and counts follow a message within seconds.
              if (filter !== "status") yield* eventually(foreign(query), (answer) => itemsOf(answer).length > 0)
              check(yield* own(query), query)
            }
          }
        }))
    }
  })

  interface Named {
    /** Creates the row in the owner's account and returns its id. */
    readonly make: (owner: Effect.Success<ReturnType<typeof makeAccount>>) => Effect.Effect<
      string | number,
      never,
      Service | SqlClient.SqlClient
    >
    /** An id of the same form that no account has. */
    readonly unknown: string | number
    /** The request of an account that names the id. */
    readonly asks: (id: string | number, key: string) => Effect.Effect<
      RequestOptions & { readonly query?: string },
      never,
      Service | SqlClient.SqlClient
    >
  }

  const sample = (name: string, field: string): Named["asks"] => (id) =>
    Effect.succeed({ json: { ...Object(samples[name]), [field]: id } })

  const session = ({ key }: { readonly key: string }) =>
    Effect.flatMap(Service, ({ request }) => connectedSession(request, key))

  const row = (path: string) => ({ key }: { readonly key: string }) =>
    Effect.flatMap(
      Service,
      ({ request }) => Effect.map(rowFor(path)?.(request, key) ?? Effect.succeed([]), ([id = ""]) => id)
    )

  const unknownRow = 999_999_999

  const template = (json: Readonly<Record<string, unknown>>): Named => ({
    make: row("/v1/email/templates/:template_id"),
    unknown: "tmpl_01ARZ3NDEKTSV4RRFFQ69G5FAV",
    asks: (template_id) => Effect.succeed({ json: { ...json, template_id } })
  })

  const sender = (name: string): Named => ({
    make: ({ accountId }) =>
      Effect.as(Effect.orDie(insertDomain(accountId, `d${accountId}.example`)), `us@d${accountId}.example`),
    unknown: "us@unknown.example",
    asks: sample(name, "from")
  })

  const step = (own: Readonly<Record<string, unknown>>) =>
    Effect.succeed({ json: { to: { phone: "+250788123456", email: "ada@example.com" }, steps: [own] } })

  /** Every field of a body, and parameter of a query, that names a row of an account. */
  const named: Readonly<Record<string, Named>> = {
    "POST /v1/email/send template_id": template({ to: "ada@example.com" }),
    "POST /v1/email/send-bulk template_id": template({ recipients: ["ada@example.com"] }),
    "POST /v1/email/send from": sender("POST /v1/email/send"),
    "POST /v1/email/send-bulk from": sender("POST /v1/email/send-bulk"),
    "POST /v1/messages session_id": {
      make: session,
      unknown: unknownRow,
      asks: (session_id) => step({ channel: "whatsapp", session_id, content: "Hello" })
    },
    "POST /v1/messages template_id": {
      ...template({}),
      asks: (template_id) => step({ channel: "email", template_id })
    },
    "POST /v1/messages from": {
      ...sender("POST /v1/messages"),
      asks: (from) => step({ channel: "email", from, subject: "Hello", text: "Hello" })
    },
    "POST /v1/verify/send session_id": {
      make: session,
      unknown: unknownRow,
      asks: (session_id) => Effect.succeed({ json: { to: "+250788123456", channel: "whatsapp", session_id } })
    },
    "POST /v1/verify/check id": {
      make: row("/v1/verify/status/:verification_id"),
      unknown: "ver_01ARZ3NDEKTSV4RRFFQ69G5FAV",
      asks: (id) => Effect.succeed({ json: { id, code: "000000" } })
    },
    "POST /v1/whatsapp/send session_id": {
      make: session,
      unknown: unknownRow,
      asks: sample("POST /v1/whatsapp/send", "session_id")
    },
    "POST /v1/whatsapp/send group_id": {
      make: row("/v1/whatsapp/groups/:id"),
      unknown: unknownRow,
      // Over the session of the group, if the caller has it.
      asks: Effect.fnUntraced(function*(group_id, key) {
        const { request } = yield* Service
        const first = (yield* request("GET", "/v1/whatsapp/sessions", { key })).at("data", 0, "id")
        return {
          json: { group_id: Number(group_id), session_id: first ?? (yield* session({ key })), content: "Hello" }
        }
      })
    },
    "POST /v1/whatsapp/send-bulk session_id": {
      make: session,
      unknown: unknownRow,
      asks: sample("POST /v1/whatsapp/send-bulk", "session_id")
    },
    "POST /v1/whatsapp/groups session_id": {
      make: session,
      unknown: unknownRow,
      asks: sample("POST /v1/whatsapp/groups", "session_id")
    },
    "GET /v1/whatsapp/contacts/:phone/check session_id": {
      make: session,
      unknown: unknownRow,
      asks: (id) => Effect.succeed({ query: `?session_id=${id}` })
    }
  }

  /** `sender_id` is a text that recipients see. A session looks for a reaction's `message_id` among its own messages. */
  const namesRow = (field: string) => /(?:^|_)id$|^from$/.test(field) && !["sender_id", "message_id"].includes(field)

  describe("ids in bodies and queries", () => {
    it("every field that names a row of an account has a case", () => {
      const fields = guarded.filter((endpoint) => !isList(endpoint)).flatMap((endpoint) =>
        [...bodyOf(endpoint), ...queryOf(endpoint)].filter(namesRow).map((field) => `${endpoint.name} ${field}`)
      )
      assert.sameMembers(fields, Object.keys(named))
    })

    for (const [name, { asks, make, unknown }] of Object.entries(named)) {
      const [method = "", path = "", field = ""] = name.split(" ")

      it.effect(`${method} ${path} answers another account's ${field} like an unknown one`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
          const id = yield* make(theirs)
          const ask = Effect.fnUntraced(function*(key: string, of: string | number) {
            const { query = "", ...options } = yield* asks(of, key)
            return yield* request(method, `${fill(path, "15550100200")}${query}`, { ...options, key })
          })
          const shown = ({ at }: Answer, of: string | number) =>
            JSON.stringify(at("error")).replaceAll(String(of).replace(/^.*@/, ""), "…")
          const foreign = yield* ask(mine.key, id)
          const nowhere = yield* ask(mine.key, unknown)
          assertRefused(foreign, nowhere.status, String(nowhere.at("error", "type")))
          // The id stands in a body or query, so the path is right.
          if (nowhere.at("error", "type") === "not_found") {
            const param = path === "/v1/messages" ? `steps[0].${field}` : field
            assert.strictEqual(nowhere.at("error", "param"), param)
            assert.strictEqual(
              nowhere.at("error", "message"),
              `${param}: not found in this account. Check the id.`
            )
          }
          assert.deepStrictEqual(shown(foreign, id), shown(nowhere, unknown))
          // The id is right: its owner gets another answer.
          const own = yield* ask(theirs.key, id)
          assert.notStrictEqual(own.at("error", "type"), nowhere.at("error", "type"), own.text)
        }))
    }
  })
})
