import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { type Answer, eventually, makeAccount, sandboxToken, Service } from "../support/Service.ts"
import { requestOf } from "./curl.ts"
import { blocks, read } from "./documents.ts"

/** The names of fields, in order; those of rows with their number. */
const namesIn = (json: string) => [...json.matchAll(/"(?:message_)?id":\d+|"\w+":/g)].map(([name]) => name)

/** The names that follow each other in the list as they do here; the rest is left out. */
const inOrderOf = (list: ReadonlyArray<string>, names: ReadonlyArray<string>) => {
  let from = 0
  return names.filter((name) => {
    const index = list.indexOf(name, from)
    if (index >= 0) from = index + 1
    return index >= 0
  })
}

/** What a reader waits for, by a part of the path. */
const readiness: Readonly<Record<string, (answer: Answer) => boolean>> = {
  "/sandbox/mail": ({ at }) => at("meta", "total") === 1,
  "/recipients": ({ at }) => at("data", 1, "status") === "bounced",
  "/whatsapp/sessions/1": ({ at }) => at("status") === "connected"
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
      const answers: Array<string> = []
      for (const command of commands) {
        const { body, method, path, ...sent } = requestOf(
          command.replaceAll("$KEY", key).replaceAll("$TOKEN", sandboxToken).replaceAll("$BATCH", batch)
        )
        const asking = request(method, path, { ...sent, ...(body !== undefined && { body }) })
        const isReady = Object.entries(readiness).find(([part]) => path.includes(part))?.[1]
        const answer = isReady === undefined ? yield* asking : yield* eventually(asking, isReady)
        statuses.push(answer.status)
        answers.push(answer.text)
        if (path === "/v1/email/send-bulk") {
          batch = (yield* Schema.decodeUnknownEffect(Accepted)(answer.json)).data.batch_id
        }
      }
      const phone = request("GET", "/sandbox/phones/15550100301", { headers: { accept: "application/json" } })
      yield* eventually(phone, ({ at }) => at("data", "messages", 0, "text") === "Hello")
      assert.deepStrictEqual(statuses, [201, 202, 200, 200, 202, 201, 303, 200, 202, 201, 202, 200])
      const shown = blocks(tour, "json").flatMap((block) => block.split(/\n(?=\{)/))
      const withAnswer = [0, 1, 2, 3, 4, 5, 7, 9, 10]
      assert.lengthOf(shown, withAnswer.length)
      for (const [index, text] of shown.entries()) {
        const answer = namesIn(answers[withAnswer[index] ?? 0] ?? "")
        const found = namesIn(text).filter((name) => answer.includes(name))
        assert.deepStrictEqual(found, namesIn(text))
        assert.deepStrictEqual(inOrderOf(answer, found), found, text)
      }
    }))
})
