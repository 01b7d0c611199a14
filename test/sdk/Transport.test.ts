import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import {
  ApiError,
  ConnectionError,
  InvalidRequestError,
  PaymentRequiredError,
  PlanLimitExceededError,
  RateLimitExceededError,
  ServerError,
  TimeoutError
} from "../../src/sdk/MessagingClient.ts"
import { answer, recordingClient, refusal } from "./support.ts"

const mail = { to: "ada@example.com", subject: "Hello", text: "Hello" }
const accepted = () =>
  answer(202, { success: true, data: { id: 1, to: "ada@example.com", status: "queued", warnings: [] } })
const failed = async (promise: PromiseLike<unknown>): Promise<unknown> =>
  promise.then(() => undefined, (error) => error)

const apiError = async (promise: PromiseLike<unknown>): Promise<ApiError> => {
  const error = await failed(promise)
  assert.instanceOf(error, ApiError)
  return error as ApiError // asserted above
}

const keys = (sent: ReadonlyArray<{ readonly headers: Headers }>) =>
  new Set(sent.map(({ headers }) => headers.get("idempotency-key")))

describe("requests of the SDK", () => {
  it("a broken connection is retried with the same random idempotency key", async () => {
    const { client, sent } = recordingClient((_, index) => index < 2 ? new TypeError("fetch failed") : accepted())
    const { id } = await client.email.send(mail)
    assert.strictEqual(id, 1)
    assert.strictEqual(sent.length, 3)
    assert.strictEqual(keys(sent).size, 1)
    assert.match([...keys(sent)][0] ?? "", /^[0-9a-f]{32}$/)
    const [first = 0, second = 0, third = 0] = sent.map(({ at }) => at)
    assert.isAtLeast(second - first, 249)
    assert.isAtLeast(third - second, 499)
    await client.email.send(mail)
    assert.strictEqual(keys(sent).size, 2)
  })

  it("the caller's idempotency key replaces the random one", async () => {
    const { client, sent } = recordingClient(accepted)
    await client.email.send(mail, { idempotencyKey: "receipt-1" })
    assert.deepStrictEqual([...keys(sent)], ["receipt-1"])
  })

  it("a POST that takes no idempotency key is not sent twice", async () => {
    const { client, sent } = recordingClient(() => new TypeError("fetch failed"))
    assert.instanceOf(await failed(client.auth.login({ email: "a@example.com", password: "secret" })), ConnectionError)
    assert.strictEqual(sent.length, 1)
  })

  it("Retry-After sets the pause", async () => {
    const { client, sent } = recordingClient((_, index) =>
      index === 0 ? refusal(503, { type: "service_unavailable" }, { "retry-after": "1" }) : accepted()
    )
    await client.email.send(mail)
    const [first = 0, second = 0] = sent.map(({ at }) => at)
    assert.isAtLeast(second - first, 999)
    assert.isAtMost(second - first, 30_000)
  })

  it("a Retry-After of more than a minute is reported at once", async () => {
    const { client, sent } = recordingClient(() => refusal(429, { type: "otp_limit", retry_after: 3600, limit: 5 }))
    const error = await apiError(client.verify.send({ to: "+250788123456" }))
    assert.strictEqual(error.retry_after, 3600)
    assert.strictEqual(sent.length, 1)
  })

  it("a 429 without Retry-After and every other refusal is final", async () => {
    for (
      const [status, type] of [[429, "max_attempts_exceeded"], [402, "email_quota_exceeded"], [
        409,
        "email_taken"
      ]] as const
    ) {
      const { client, sent } = recordingClient(() => refusal(status, { type }))
      assert.strictEqual((await apiError(client.email.send(mail))).type, type)
      assert.strictEqual(sent.length, 1)
    }
  })

  it("a request in progress with the same key is awaited", async () => {
    const { client, sent } = recordingClient((_, index) =>
      index === 0 ? refusal(409, { type: "idempotency_in_progress" }, { "retry-after": "0" }) : accepted()
    )
    await client.email.send(mail)
    assert.strictEqual(sent.length, 2)
  })

  it("maxRetries 0 makes one attempt", async () => {
    const { client, sent } = recordingClient(() => refusal(500, { type: "internal_error" }))
    assert.instanceOf(await failed(client.email.send(mail, { maxRetries: 0 })), ServerError)
    assert.strictEqual(sent.length, 1)
  })

  it("an attempt that takes too long is a TimeoutError", async () => {
    const { client, sent } = recordingClient(() => new Promise<Response>(() => {}))
    assert.instanceOf(await failed(client.account.get({ timeout: 20, maxRetries: 1 })), TimeoutError)
    assert.strictEqual(sent.length, 2)
  })

  it("the caller's signal ends the request and the pause before a retry with its own reason", async () => {
    const reason = new Error("stopped")
    for (const answering of [() => new Promise<Response>(() => {}), () => refusal(500, { type: "internal_error" })]) {
      const controller = new AbortController()
      const { client, sent } = recordingClient(answering)
      const result = failed(client.account.get({ signal: controller.signal }))
      while (sent.length === 0) await Promise.resolve()
      controller.abort(reason)
      assert.strictEqual(await result, reason)
      assert.strictEqual(sent.length, 1)
      assert.strictEqual(await failed(client.account.get({ signal: controller.signal })), reason)
    }
  })

  it("an empty id is refused before anything is sent", async () => {
    const { client, sent } = recordingClient(accepted)
    for (const id of ["", ".", ".."]) assert.match(String(await failed(client.account.logins.end(id))), /Pass an id/)
    assert.deepStrictEqual(sent, [])
  })

  it("every answer is reported with its request id", async () => {
    const seen: Array<unknown> = []
    const { client } = recordingClient(
      (_, index) =>
        index === 0
          ? refusal(500, { type: "internal_error" })
          : answer(202, { data: {} }, { "idempotency-replayed": "true" }),
      { onResponse: ({ attempt, replayed, request_id, status }) => seen.push([attempt, status, replayed, request_id]) }
    )
    await client.email.send(mail)
    assert.deepStrictEqual(seen, [[1, 500, false, "0190f0c0-0000-7000-8000-000000000000"], [2, 202, true, undefined]])
  })
})

describe("what ends a request of the SDK at once", () => {
  it("an error of the caller's onResponse reaches the caller, and nothing is sent again", async () => {
    const own = new Error("mine")
    const { client, sent } = recordingClient(accepted, {
      onResponse: () => {
        throw own
      }
    })
    assert.strictEqual(await failed(client.email.send(mail)), own)
    assert.strictEqual(sent.length, 1)
  })

  it("a header that HTTP does not allow is refused by its name, and the key is in no error", async () => {
    for (const apiKey of ["sk_live_\u2026", "sk_live_a\nb"]) {
      const { client, sent } = recordingClient(accepted, { apiKey })
      const error = await failed(client.account.get())
      assert.match(String(error), /header authorization .* Check the API key/)
      assert.notInclude(inspect(error), "sk_live")
      assert.deepStrictEqual(sent, [])
    }
  })

  it("a path without a slash, and a GET with a body, are refused", async () => {
    const { client, sent } = recordingClient(accepted)
    assert.match(String(await failed(client.request("GET", "v1/account"))), /must begin with/)
    assert.match(String(await failed(client.request("GET", "/v1/account", { body: {} }))), /has no body/)
    assert.deepStrictEqual(sent, [])
  })
})

describe("the time of a request of the SDK", () => {
  it("is longer by what the service itself may wait", async () => {
    const late = () =>
      new Promise<Response>((resolve) => setTimeout(() => resolve(answer(200, { data: [], meta: {} })), 300))
    const { client, sent } = recordingClient(late, { timeout: 50 })
    assert.deepStrictEqual((await client.sandboxMessages.list({ wait: 30 })).data, [])
    assert.strictEqual(sent.length, 1)
  })

  it("may have no end", async () => {
    const late = () => new Promise<Response>((resolve) => setTimeout(() => resolve(answer(200, { data: {} })), 50))
    const { client } = recordingClient(late, { timeout: Infinity, maxRetries: 0 })
    assert.isEmpty(await client.account.get())
  })
})

describe("errors of the SDK", () => {
  it("a type has its class, with the facts of its body", async () => {
    const { client } = recordingClient(() =>
      refusal(402, { type: "plan_limit_exceeded", code: 4022, limit: 5, current: 5, resource: "api_keys" })
    )
    const error = await apiError(client.apiKeys.create({ name: "More" }))
    assert.instanceOf(error, PlanLimitExceededError)
    assert.instanceOf(error, PaymentRequiredError)
    assert.deepStrictEqual([error.limit, error.current, error.resource], [5, 5, "api_keys"])
    const { code, doc_url, message, name, request_id, status, type } = error
    assert.deepStrictEqual({ code, doc_url, message, name, request_id, status, type }, {
      code: 4022,
      doc_url: "/docs/guides/errors#plan_limit_exceeded",
      message: "Refused.",
      name: "ApiError plan_limit_exceeded",
      request_id: "0190f0c0-0000-7000-8000-000000000000",
      status: 402,
      type: "plan_limit_exceeded"
    })
  })

  it("a validation error names every field at fault", async () => {
    const errors = [{ param: "to", type: "missing", message: "Pass an address." }]
    const { client } = recordingClient(() => refusal(422, { type: "validation_error", param: "to", errors }))
    const error = await apiError(client.email.send(mail))
    assert.instanceOf(error, InvalidRequestError)
    assert.strictEqual(error.param, "to")
    assert.deepStrictEqual(error.errors, errors)
  })

  it("an unknown type has the class of its status, and a body that is no JSON says where to look", async () => {
    const unknown = recordingClient(() => refusal(402, { type: "of_a_later_version" }))
    assert.instanceOf(await failed(unknown.client.email.send(mail)), PaymentRequiredError)
    const inherited = recordingClient(() => refusal(402, { type: "constructor" }))
    assert.instanceOf(await failed(inherited.client.email.send(mail)), PaymentRequiredError)
    const proxy = recordingClient(() => new Response("<h1>Bad gateway</h1>", { status: 502 }))
    const error = await apiError(proxy.client.email.send(mail, { maxRetries: 0 }))
    assert.instanceOf(error, ServerError)
    assert.match(error.message, /baseUrl/)
  })

  it("a redirect is not followed, because it would turn a POST into a GET", async () => {
    const { client, sent } = recordingClient(() => new Response(null, { status: 301, headers: { location: "/" } }))
    assert.strictEqual((await apiError(client.email.send(mail))).status, 301)
    assert.strictEqual(sent.length, 1)
  })

  it("a rate limit tells when to try again", async () => {
    const { client } = recordingClient(() =>
      refusal(429, { type: "rate_limit_exceeded", limit: 60 }, { "retry-after": "61" })
    )
    const error = await apiError(client.email.send(mail))
    assert.instanceOf(error, RateLimitExceededError)
    assert.deepStrictEqual([error.retry_after, error.limit], [61, 60])
  })
})

describe("lists of the SDK", () => {
  const rows = [1, 2, 3, 4, 5].map((id) => ({ id }))

  const collect = async (list: AsyncIterable<{ readonly id: number }>) => {
    const ids: Array<number> = []
    for await (const { id } of list) ids.push(id)
    return ids
  }

  it("iterates over numbered pages", async () => {
    const { client, sent } = recordingClient(({ url }) => {
      const page = Number(url.searchParams.get("page") ?? 1)
      return answer(200, { data: rows.slice(page * 2 - 2, page * 2), meta: { total: 5, page, per_page: 2 } })
    })
    assert.deepStrictEqual(await collect(client.webhooks.list({ per_page: 2 })), [1, 2, 3, 4, 5])
    assert.deepStrictEqual(sent.map(({ url }) => url.search), [
      "?per_page=2",
      "?per_page=2&page=2",
      "?per_page=2&page=3"
    ])
  })

  it("iterates by cursor where the list has one", async () => {
    const { client, sent } = recordingClient(({ url }) => {
      const from = Number(url.searchParams.get("cursor") ?? 0)
      const next_cursor = from + 2 < rows.length ? `${from + 2}` : null
      const page = Number(url.searchParams.get("page") ?? 1)
      return answer(200, { data: rows.slice(from, from + 2), meta: { total: 5, page, per_page: 2, next_cursor } })
    })
    assert.deepStrictEqual(await collect(client.email.list({ status: "sent" })), [1, 2, 3, 4, 5])
    assert.deepStrictEqual(sent.map(({ url }) => url.search), [
      "?status=sent",
      "?status=sent&cursor=2",
      "?status=sent&cursor=4"
    ])
  })

  it("awaits one page, and asks for it once", async () => {
    const { client, sent } = recordingClient(() =>
      answer(200, { data: rows, meta: { total: 9, page: 1, per_page: 5 } })
    )
    const list = client.email.list()
    assert.strictEqual(sent.length, 0)
    const page = await list
    assert.strictEqual((await list).meta.total, 9)
    assert.deepStrictEqual([page.data.length, page.hasNext, sent.length], [5, true, 1])
    assert.strictEqual((await (await list).next())?.data.length, 5)
    assert.strictEqual(sent.length, 2)
  })

  it("a refusal reaches the caller who iterates", async () => {
    const { client } = recordingClient(() => refusal(401, { type: "invalid_api_key" }))
    assert.strictEqual((await apiError(collect(client.email.list()))).type, "invalid_api_key")
  })
})
