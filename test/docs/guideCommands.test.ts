/** The blocks of `bash` in the guides: what a reader types around the requests. Each of them is run here. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import * as NodeChildProcess from "node:child_process"
import { parseSmtpUrl } from "../../src/channels/email/smtp/SmtpUrl.ts"
import { Changes } from "../support/Changes.ts"
import { sandboxed } from "../support/cli.ts"
import { blocksOf, runs } from "../support/guideBlocks.ts"
import { fences, isCode } from "../support/guideReader.ts"
import { encryptionKey } from "../support/Service.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { pages, read, root } from "./documents.ts"

const guides = pages.filter((page) => page.startsWith("docs/guides/"))

/** What a program prints, of a shell that a reader leaves open: the last command of a block may go on. */
const typed = (block: string, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = NodeChildProcess.spawn("sh", [], {
        cwd: root,
        env: { PATH: process.env["PATH"], ...env },
        detached: true
      })
      const output = { text: "", isOver: false }
      const changes = new Changes(() => output)
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk) => {
          output.text += String(chunk)
          changes.notify()
        })
      }
      child.once("close", () => {
        output.isOver = true
        changes.notify()
      })
      child.stdin.end(block)
      return { changes, child, output }
    }),
    ({ changes, child, output }) =>
      // The shell's group has the programs that it started.
      Effect.sync(() => child.pid !== undefined && !output.isOver && process.kill(-child.pid, "SIGTERM")).pipe(
        Effect.andThen(changes.until(() => output.isOver, longer.start))
      )
  )

describe("commands in the guides", () => {
  it("every block of bash is run by this file", () => {
    const found = guides.flatMap((page) => {
      const count = [...read(page).matchAll(/^ *```bash$/gm)].length
      return count === 0 ? [] : [[page, count]]
    })
    assert.deepStrictEqual(found, [["docs/guides/README.md", 1], ["docs/guides/first-real-mail.md", 3]])
  })

  it.live("the exports of the index and of the first mail are the variables that every guide's code needs", () =>
    Effect.gen(function*() {
      const needed = new Set(
        guides.flatMap((page) => fences(page).filter(isCode)).flatMap(({ text }) => text.match(/MESSAGING_\w+/g) ?? [])
      )
      const settings = read("docs/settings.md")
      const [, host = "", port = ""] = /\| `HOST` \| `(\S+)`[^]*?\| `PORT` \| `(\d+)`/.exec(settings) ?? []
      for (const block of [blocksOf("README", "bash")[0], blocksOf("first-real-mail", "bash")[2]]) {
        const { output } = yield* runs(`${block}env`, {})
        const exported = Object.fromEntries(
          [...output.matchAll(/^(MESSAGING_\w+)=(.*)$/gm)].map(([, name = "", value]) => [name, value])
        )
        assert.sameMembers(Object.keys(exported), [...needed])
        assert.strictEqual(exported["MESSAGING_URL"], `http://${host}:${port}`)
        assert.match(exported["MESSAGING_API_KEY"] ?? "", /^sk_live_/)
      }
    }))

  it.live("the command that encodes a password prints the form that SMTP_URL takes", () =>
    Effect.gen(function*() {
      const [encode = ""] = blocksOf("first-real-mail", "bash")
      const [, password] = /'([^']*)'\n$/.exec(encode) ?? []
      const { output } = yield* runs(encode, {})
      const { credentials } = Result.getOrThrow(parseSmtpUrl(`smtp://token:${output.trim()}@relay.example`))
      assert.strictEqual(credentials && Redacted.value(credentials.password), password)
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("commands in the guides", (it) => {
  it.effect("the check and the start of the first mail work with a relay, and say where mail goes", () =>
    Effect.gen(function*() {
      const [, restart = ""] = blocksOf("first-real-mail", "bash")
      const { nodeUrl, url } = yield* TestDatabase
      const sink = yield* SmtpSink.make()
      const { changes, output } = yield* typed(restart, {
        ...sandboxed,
        DATABASE_URL: nodeUrl ?? url,
        ENCRYPTION_KEY: encryptionKey,
        PORT: "0",
        SMTP_URL: `smtp://127.0.0.1:${sink.port}?tls=never`,
        MAIL_FROM: "Example <hello@example.com>"
      })
      yield* changes.until(() => output.isOver || output.text.includes("listening on "), longer.start)
      assert.match(output.text, /^ok {4}mail: the relay accepts connections/m)
      assert.match(output.text, new RegExp(`mail goes to .*127\\.0\\.0\\.1:${sink.port}`))
      assert.include(output.text, "listening on ")
    }))
})
