import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAccount, sandboxToken, Service } from "../support/Service.ts"
import { requestOf } from "./curl.ts"
import { blocks, read } from "./documents.ts"

const commands = blocks(read("docs/sandbox.md"), "sh").flatMap((block) => block.match(/^curl .*/gm) ?? [])

layer(Service.layer(), { excludeTestServices: true })("docs/sandbox.md", (it) => {
  it.effect("each command succeeds in order, and finds what was sent", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const mail = { to: "ada@example.com", subject: "Your receipt", text: "Thank you." }
      const sms = { to: "+250788123456", content: "Your order is ready." }
      yield* request("POST", "/v1/email/send", { key, json: mail })
      yield* request("POST", "/v1/sms/send", { key, json: sms })
      const answers: Array<unknown> = []
      for (const command of commands) {
        const { method, path, ...sent } = requestOf(command.replaceAll("$TOKEN", sandboxToken))
        const { at, status, text } = yield* request(method, path, { headers: sent.headers })
        const found = at("data", "deleted") ?? at("data", "text") ?? at("data", 0, "subject") ?? at("data", 0, "text")
        answers.push(status === 200 ? found ?? /^Subject: .*(?=\r)/m.exec(text)?.[0] : text)
      }
      assert.deepStrictEqual(answers, [
        mail.subject,
        `${mail.text}\n`,
        `Subject: ${mail.subject}`,
        1,
        0,
        0,
        sms.content,
        sms.content,
        1,
        0
      ])
    }))
})
