import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { eventually, makeAccount, sandboxToken, Service } from "../support/Service.ts"
import { blocks, read } from "./documents.ts"

/** The request that a curl command sends. Splits words as a shell does, and does nothing else that a shell does. */
const requestOf = (command: string) => {
  const words = [...command.matchAll(/(?:[^\s'"\\]|\\\n|'[^']*'|"[^"]*")+/g)]
    .map(([word]) => word.replaceAll("\\\n", "").replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"))
    .filter((word) => word !== "")
  const [url = "", ...options] = words.slice(1)
  const headers: Record<string, string> = {}
  let body: string | undefined
  for (let index = 0; index < options.length; index += 2) {
    const [option, value = ""] = options.slice(index)
    if (option === "-d") body = value
    else if (option === "-H") headers[value.slice(0, value.indexOf(":")).toLowerCase()] = value.replace(/^[^:]*: */, "")
    else throw new Error(`This test does not support curl's ${option}.`)
  }
  return {
    path: new URL(url).pathname + new URL(url).search,
    method: body === undefined ? "GET" : "POST",
    headers,
    body
  }
}

const tour = read("README.md").split(/^## /m).find((section) => section.startsWith("A tour")) ?? ""
const commands = blocks(tour, "sh").flatMap((block) => block.match(/^curl (?:.|\\\n|\n(?!$|\w))*/gm) ?? [])

const Accepted = Schema.Struct({ data: Schema.Struct({ batch_id: Schema.String }) })

layer(Service.layer())("README.md", (it) => {
  it.effect("each command of the README's tour succeeds when pasted in order", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      let batch = ""
      const statuses: Array<number> = []
      for (const command of commands) {
        const { body, method, path, ...sent } = requestOf(
          command.replaceAll("$KEY", key).replaceAll("$TOKEN", sandboxToken).replaceAll("$BATCH", batch)
        )
        const asking = request(method, path, { ...sent, ...(body !== undefined && { body }) })
        const answer = path === "/v1/whatsapp/sessions/1"
          ? yield* eventually(asking, ({ at }) => at("status") === "connected")
          : yield* asking
        statuses.push(answer.status)
        if (path === "/v1/email/send-bulk") {
          batch = (yield* Schema.decodeUnknownEffect(Accepted)(answer.json)).data.batch_id
        }
      }
      const phone = request("GET", "/sandbox/phones/15550100301", { headers: { accept: "application/json" } })
      yield* eventually(phone, ({ at }) => at("data", "messages", 0, "text") === "Hello")
      assert.deepStrictEqual(statuses, [201, 202, 200, 200, 202, 201, 303, 200, 202, 201, 202, 200])
    }))
})
