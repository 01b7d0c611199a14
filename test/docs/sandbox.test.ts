import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { makeAccount, sandboxToken, Service } from "../support/Service.ts"
import { requestOf } from "./curl.ts"
import { blocks, read } from "./documents.ts"

const commands = blocks(read("docs/sandbox.md"), "sh").flatMap((block) => block.match(/^curl .*/gm) ?? [])

/** Whether the receiver fails; undefined in other answers. */
const isFailing = (until: unknown) => until === undefined ? undefined : until !== null

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
        const { method, path, ...sent } = requestOf(command.replaceAll("$TOKEN", sandboxToken).replaceAll("$KEY", key))
        const { at, status, text } = yield* request(method, path, {
          headers: sent.headers,
          ...(sent.body !== undefined && { body: sent.body })
        })
        const found = at("data", "deleted") ?? isFailing(at("data", "failing_until")) ?? at("data", "text") ??
          at("data", 0, "subject") ?? at("data", 0, "text")
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
        0,
        false,
        true
      ])
    }))
})
