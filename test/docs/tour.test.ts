import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { eventually, makeAccount, sandboxToken, Service } from "../support/Service.ts"
import { requestOf } from "./curl.ts"
import { blocks, read } from "./documents.ts"

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
