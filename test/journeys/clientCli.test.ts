/** The command line of users against a node. */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { spawnSync } from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { create, toDataURL } from "qrcode"
import { drawn, qrModules } from "../../src/app/client/qrModules.ts"
import { messaging, startMessaging } from "../support/cli.ts"
import { makeDnsServer } from "../support/DnsServer.ts"
import { freePort } from "../support/freePort.ts"
import { programAt } from "../support/programs.ts"
import { eventually, makeAccount, makeKey, Service, startNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create as createWebhook } from "../support/webhookStories.ts"
import { createSession } from "../support/WhatsApp.ts"

const commands = ["login", "logout", "send", "logs", "whatsapp", "domains", "webhooks", "otp", "api"]

const temporaryHome = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true }))
)

/** A new account's environment for the command line. */
const environment = Effect.gen(function*() {
  const { baseUrl } = yield* Service
  const { accountId, key, keyId } = yield* makeAccount()
  return { accountId, key, keyId, env: { MESSAGING_API_KEY: key, MESSAGING_URL: baseUrl } }
})

const scan = (id: number, number: string) =>
  Effect.flatMap(Service, ({ request }) =>
    request("POST", "/sandbox/phones/scan", {
      body: `session=${id}&number=${number}`,
      headers: { "content-type": "application/x-www-form-urlencoded" }
    }))

describe("the QR code in the terminal", () => {
  test("has the modules of the image, and a quiet zone around them", async () => {
    for (const text of ["short", "2@".padEnd(230, "aZ9+/=,")]) {
      const { data, size } = create(text, { errorCorrectionLevel: "M" }).modules
      const modules = qrModules(await toDataURL(text, { errorCorrectionLevel: "M", margin: 2, scale: 5 }))
      assert.deepStrictEqual(modules.flat(), [...data].map((bit) => bit === 1))
      const lines = drawn(modules)
      assert.deepStrictEqual(lines.map((line) => line.length), Array.from(lines, () => size + 4))
      assert.strictEqual(lines[0], "█".repeat(size + 4))
      assert.match(lines[1] ?? "", /^██ ▄▄▄▄▄ /)
    }
  })
})

test("the commands of messaging reach the service by the SDK alone", () => {
  const folder = NodePath.join(import.meta.dirname, "../../src/app/client")
  const sources = NodeFs.readdirSync(folder).map((name) => NodeFs.readFileSync(NodePath.join(folder, name), "utf8"))
  const imported = sources.flatMap((source) => [...source.matchAll(/ from "([^"]+)"/g)].map(([, name = ""]) => name))
  const others = imported.filter((name) =>
    !/^(effect|effect\/cli|node:(module|os|path|url|zlib)|\.\/.*|\.\.\/shell\/.*|\.\.\/\.\.\/(sdk|values)\/.*)$/.test(
      name
    )
  )
  assert.deepStrictEqual(others, [])
  for (const source of sources) assert.notMatch(source, /\bfetch\(/)
})

/** The help of a command. */
const helpOf = (words: ReadonlyArray<string>) =>
  Effect.map(messaging([...words, "--help"]), ({ code, stdout }) => {
    assert.strictEqual(code, 0, words.join(" "))
    return stdout.trimEnd().split("\n")
  })

/** The lines of a section of a help. */
const section = (help: ReadonlyArray<string>, title: string) => {
  const begin = help.indexOf(title) + 1
  const end = help.indexOf("", begin)
  return begin === 0 ? [] : help.slice(begin, end < 0 ? undefined : end).map((line) => line.trim())
}

/** Every command with its help, as the helps name them. */
const allHelps = (words: ReadonlyArray<string> = []): Effect.Effect<
  ReadonlyArray<{
    readonly words: ReadonlyArray<string>
    readonly help: ReadonlyArray<string>
  }>
> =>
  Effect.gen(function*() {
    const help = yield* helpOf(words)
    const names = section(help, "SUBCOMMANDS").map((line) => line.split(" ")[0] ?? "")
    const below = yield* Effect.forEach(names, (name) => allHelps([...words, name]), { concurrency: 2 })
    return [{ words, help }, ...below.flat()]
  })

const isLeaf = ({ help }: { readonly help: ReadonlyArray<string> }) => !help.includes("SUBCOMMANDS")

/** Commands that print more than their answer. */
const goesOn = new Set(["logs", "whatsapp pair", "webhooks listen"])

/** The JSON of each line. */
const valuesIn = (text: string, name: string) =>
  text.split("\n").filter((line) => line !== "").map((line): Record<string, unknown> => {
    assert.match(line, /^\{.*\}$/, name)
    return JSON.parse(line)
  })

/** Completes the last word of a line in bash as the Tab key does. */
const completeInBash = `source "$1"
COMP_LINE="$2" COMP_POINT=\${#2}
read -ra COMP_WORDS <<< "$2"
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
read -ra registered <<< "$(complete -p messaging)"
"\${registered[-2]}" messaging "\${COMP_WORDS[-1]}" "\${COMP_WORDS[-2]}"
printf 'ran:%s %s\n' "\${COMP_WORDS[*]:1:COMP_CWORD-1}" "\${COMPREPLY[*]}"`

/** Types the line, Tab and Enter in a terminal with zsh. */
const completeInZsh = `zmodload zsh/zpty
zpty typed "TERM=dumb zsh -f -i"
zpty -w typed "messaging() { print -r -- ran:\\$* }; fpath=(\${1:h} \\$fpath); autoload -U compinit; compinit -u -D; print rea''dy"
zpty -r -m typed out '*ready*'
zpty -w typed "$2"$'\t'
zpty -r -m typed out '*ran:*'$'\n'
print -r -- $out`

describe("the help of messaging", () => {
  test("of every command fits a screen of 24 lines of 80 columns, and ends with an example of the command", () =>
    Effect.runPromise(Effect.gen(function*() {
      const all = yield* allHelps()
      assert.deepStrictEqual(all.filter(({ words }) => words.length === 1).map(({ words }) => words[0]), commands)
      for (const { help, words } of all) {
        const name = ["messaging", ...words].join(" ")
        assert.isAtMost(help.length, 24, name)
        assert.deepStrictEqual(help.filter((line) => line.length > 80), [], name)
        const examples = section(help, "EXAMPLES")
        assert.isAbove(examples.length, 0, name)
        for (const example of examples) assert.isTrue(`${example} `.startsWith(`${name} `), `${name}: ${example}`)
      }
    })))

  test("comes after the error, which names the nearest command", () =>
    Effect.runPromise(Effect.gen(function*() {
      const { code, stderr } = yield* messaging(["sned"])
      assert.strictEqual(code, 1)
      assert.match(stderr, /sned[^]*send[^]*Help: messaging --help\n$/)
      const wrong = yield* messaging(["send", "sms", "--json"])
      assert.deepStrictEqual([wrong.code, wrong.stdout], [1, ""])
      assert.deepStrictEqual(JSON.parse(wrong.stderr), {
        error: { message: "Missing required argument: to", help: "messaging send sms --help" }
      })
    })))
})

/** What is typed before Tab, and what it becomes. */
const typedWords = [
  ...commands.map((name) => [name === "logs" ? name : name.slice(0, -1), name]),
  ["domains ver", "domains verify"],
  ["webhooks listen --forw", "webhooks listen --forward-to"]
]

describe("the completions of messaging", () => {
  for (const [shell, script] of [["bash", completeInBash], ["zsh", completeInZsh]] as const) {
    test.skipIf(programAt(shell) === undefined)(
      `complete every command in ${shell}`,
      () =>
        Effect.runPromise(Effect.scoped(Effect.gen(function*() {
          const file = NodePath.join(yield* temporaryHome, "_messaging")
          const { code, stdout } = yield* messaging(["--completions", shell])
          assert.strictEqual(code, 0)
          NodeFs.writeFileSync(file, stdout)
          for (const [typed, completed] of typedWords) {
            const { stdout: shown } = spawnSync(shell, [
              shell === "zsh" ? "-f" : "--norc",
              "-c",
              script,
              shell,
              file,
              `messaging ${typed}`
            ], { encoding: "utf8", timeout: 15_000 })
            assert.strictEqual(/^ran:(.*?)\s*$/m.exec(shown)?.[1]?.trim(), completed, shown)
          }
        })))
    )
  }
})

layer(Service.layer(), { excludeTestServices: true })("messaging", (it) => {
  it.effect("login stores a key that works in a file of its owner alone, and logout deletes it", () =>
    Effect.gen(function*() {
      const { baseUrl } = yield* Service
      const { email, key } = yield* makeAccount()
      const home = yield* temporaryHome
      const env = { HOME: home }
      const path = NodePath.join(home, ".config/messaging/login.json")
      const wrong = yield* messaging(["login", "--url", baseUrl], env, { input: `${key.slice(0, -1)}\n` })
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.stderr, /401 invalid_api_key/)
      assert.isFalse(NodeFs.existsSync(path))
      NodeFs.mkdirSync(NodePath.dirname(path), { recursive: true })
      NodeFs.writeFileSync(path, "{}", { mode: 0o644 })
      const right = yield* messaging(["login", "--url", `${baseUrl}/`], env, { input: `${key}\n` })
      assert.include(right.stdout, email)
      assert.notInclude(right.stdout, key)
      assert.strictEqual(NodeFs.statSync(path).mode & 0o777, 0o600)
      assert.strictEqual((yield* messaging(["domains", "list"], env)).code, 0)
      const elsewhere = yield* messaging(["domains", "list"], { ...env, MESSAGING_URL: "http://127.0.0.1:9" })
      assert.match(elsewhere.stderr, /There is no API key for http:\/\/127\.0\.0\.1:9\. Run: messaging login/)
      yield* messaging(["logout"], env)
      assert.match((yield* messaging(["logs"], env)).stderr, /There is no API key/)
    }))

  it.effect("send and logs send by each channel, and print each message", () =>
    Effect.gen(function*() {
      const { accountId, env } = yield* environment
      const words = ["send", "email", "ada@example.com", "--subject", "Hello", "--text", "Hello Ada", "--json"]
      const first = yield* messaging([...words, "--idempotency-key", "a"], env)
      const again = yield* messaging([...words, "--idempotency-key", "a"], env)
      assert.strictEqual(JSON.parse(first.stdout).id, JSON.parse(again.stdout).id)
      const sms = yield* messaging(["send", "sms", "+250788123456", "Ready"], env)
      assert.match(sms.stdout, /^SMS \d+ to \+250788123456 is queued: 1 segment, [\d.]+ USD\.$/m)
      const none = yield* messaging(["send", "whatsapp", "+15550100301", "Hello"], env)
      assert.match(none.stderr, /^No WhatsApp session is connected\. Run: messaging whatsapp pair$/m)
      const listed = yield* messaging(["logs", "--json"], env)
      const rows = listed.stdout.trim().split("\n").map((line): Record<string, unknown> => JSON.parse(line))
      assert.deepStrictEqual(rows.map(({ channel }) => channel), ["email", "sms"])
      assert.match((yield* messaging(["logs", "--channel", "sms"], env)).stdout, /sms .* to \+250788123456 {2}Ready/)
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into messages (account_id, channel, direction, sender, recipient, type, status, content)
        select ${accountId}, 'whatsapp', 'in', sender, '+250788000000', 'text', 'received', '{"body": "Thanks"}'
        from unnest(array['+250788123457', null]) as s (sender)`
      const { stdout } = yield* messaging(["logs", "--channel", "whatsapp"], env)
      assert.match(stdout, /from \+250788123457 {2}Thanks\n.* from a hidden number {2}Thanks\n/)
    }))

  it.effect("api calls any endpoint", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const data = JSON.stringify({ email: "gone@example.com" })
      const added = yield* messaging(["api", "POST", "/v1/email/suppressions", "--data", data, "--json"], env)
      assert.strictEqual(JSON.parse(added.stdout).data.email, "gone@example.com", added.stderr)
      const without = yield* messaging(["api", "PATCH", "/v1/email/messages/9", "--data", "{}", "--json"], env)
      assert.strictEqual(JSON.parse(without.stderr).error.type, "validation_error", without.stderr)
      const wrong = yield* messaging(["api", "POST", "/v1/email/suppressions", "--data", "{"], env)
      assert.match(wrong.stderr, /^--data must be JSON/)
    }))

  it.effect("the example of every command prints with --json one JSON value per line, and so does its error", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const { baseUrl } = yield* Service
      const home = yield* temporaryHome
      const helps = (yield* allHelps()).filter(isLeaf)
      const isPair = ({ words }: { readonly words: ReadonlyArray<string> }) => words.includes("pair")
      for (const { help, words } of [...helps.filter(isPair), ...helps.filter((each) => !isPair(each))]) {
        const name = words.join(" ")
        const example = [...(section(help, "EXAMPLES")[0] ?? "").matchAll(/'([^']*)'|\S+/g)]
          .map(([word, quoted]) => word.startsWith("https:") ? baseUrl : quoted ?? word)
        const given = [
          ...example.slice(1),
          ...(name === "webhooks listen" ? ["--port", `${yield* freePort}`] : []),
          "--json"
        ]
        if (goesOn.has(name)) {
          const { output } = yield* startMessaging(given, env)
          const [value] = valuesIn(
            yield* eventually(Effect.sync(() => output.text), (text) => text.includes("\n"), longer.start),
            name
          )
          if (!isPair({ words })) continue
          yield* scan(Number(value?.["session_id"]), "15550108002")
          yield* eventually(Effect.sync(() => output.code), (code) => code === 0, longer.start)
          assert.deepInclude(valuesIn(output.text, name).at(-1), { status: "connected" })
          continue
        }
        const input = name === "login" ? `${env.MESSAGING_API_KEY}\n` : ""
        const { code, stderr, stdout } = yield* messaging(given, { ...env, HOME: home }, { input })
        const fails = name === "domains verify" || name === "otp check"
        assert.strictEqual(code, fails ? 1 : 0, `${name}: ${stderr}`)
        assert.lengthOf(valuesIn(stdout, name), 1, name)
        const errors = valuesIn(stderr, name)
        assert.lengthOf(errors, fails ? 1 : 0, name)
        for (const { error } of errors) assert.isString(Object(error).message)
      }
    }))

  it.effect("a refused command exits with 1 and says why, with --json as JSON", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const words = ["send", "sms", "0788123456", "Ready"]
      const { code, stderr, stdout } = yield* messaging(words, env)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /must begin.*\(422 validation_error\)\nMore: /)
      const page = /^More: (.*)#validation_error$/m.exec(stderr)?.[1] ?? ""
      assert.strictEqual(page, `${env.MESSAGING_URL}/docs/guides/errors`)
      const login = yield* messaging(["login"], { MESSAGING_URL: env.MESSAGING_URL }, { input: "sk_live_x\n" })
      assert.include(login.stderr, `\nMore: ${page}#invalid_api_key`)
      const { error } = JSON.parse((yield* messaging([...words, "--json"], env)).stderr)
      assert.deepInclude(error, { status: 422, type: "validation_error" })
    }))

  it.effect("logs --follow prints messages as they come and change", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const { output } = yield* startMessaging(["logs", "--follow"], env)
      yield* messaging(["send", "sms", "+250788123456", "Ready"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => /sms +delivered .*Ready/.test(text), longer.start)
    }))

  it.effect("logs --follow tells once that the service is away, and goes on when it is back", () =>
    Effect.gen(function*() {
      const { key } = yield* environment
      const port = yield* freePort
      const node = yield* startNode({ env: { PORT: String(port) } })
      const send = (content: string) =>
        Effect.flatMap(
          Service,
          ({ request }) => request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content } })
        )
      const env = { MESSAGING_API_KEY: key, MESSAGING_URL: node.baseUrl }
      const { child, output } = yield* startMessaging(["logs", "--follow"], env)
      const shows = (text: string) =>
        eventually(Effect.sync(() => output.text), (shown) => shown.includes(text), longer.start)
      yield* send("Before")
      yield* shows("Before")
      yield* node.kill
      yield* shows("cannot be reached")
      yield* send("Meanwhile")
      yield* startNode({ env: { PORT: String(port) } })
      yield* shows("Meanwhile")
      assert.lengthOf(output.text.match(/cannot be reached/g) ?? [], 1)
      child.kill("SIGTERM")
      yield* eventually(Effect.sync(() => output.code), (code) => code !== null)
      assert.strictEqual(output.code, 0, output.text)
    }))

  it.effect("logs --follow ends with 1 when its key is refused", () =>
    Effect.gen(function*() {
      const { env, key, keyId } = yield* environment
      const { output } = yield* startMessaging(["logs", "--follow"], env)
      yield* messaging(["send", "sms", "+250788123456", "Ready"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("Ready"), longer.start)
      const { request } = yield* Service
      assert.strictEqual((yield* request("DELETE", `/v1/api-keys/${keyId}`, { key })).status, 200)
      yield* eventually(Effect.sync(() => output.code), (code) => code !== null)
      assert.strictEqual(output.code, 1, output.text)
      assert.include(output.text, "401 revoked_api_key")
    }))

  it.effect("logs --follow begins with as many messages as --limit says, and repeats no others as new", () =>
    Effect.gen(function*() {
      const { env, key } = yield* environment
      const node = yield* Service
      const send = (content: string) =>
        node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content } })
      for (let index = 0; index < 8; index++) yield* send(`Old ${index}`)
      const list = node.request("GET", "/v1/sms/messages?status=delivered", { key })
      yield* eventually(list, ({ at }) => at("meta", "total") === 8)
      const { output } = yield* startMessaging(["logs", "--follow", "--limit", "3"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("Old 7"), longer.start)
      yield* send("New \u001b[2Jone")
      yield* eventually(Effect.sync(() => output.text), (text) => /sms +delivered .*New/.test(text), longer.start)
      const old = output.text.split("\n").filter((line) => line.includes("Old"))
      assert.deepStrictEqual(old.map((line) => line.slice(-5)), ["Old 5", "Old 6", "Old 7"])
      // A terminal would obey it.
      assert.notInclude(output.text, "\u001b")
    }))

  it.effect("lists show all rows of several pages", () =>
    Effect.gen(function*() {
      const { env, key } = yield* environment
      const node = yield* Service
      for (let index = 0; index < 26; index++) {
        yield* createWebhook(node, key, { url: `http://127.0.0.1:14999/${index}`, events: ["sms.*"] })
        yield* createSession(node, key)
      }
      for (const words of [["webhooks", "list"], ["whatsapp", "list"]]) {
        assert.lengthOf((yield* messaging(words, env)).stdout.trim().split("\n"), 26, words.join(" "))
      }
    }))

  it.effect("a command that is stopped before its end exits with 130", () =>
    Effect.gen(function*() {
      const silent = yield* makeWebhookReceiver({ script: ["hang"] })
      const env = { MESSAGING_API_KEY: "sk_live_x", MESSAGING_URL: silent.url }
      const { child, output } = yield* startMessaging(["otp", "check", "+250788222333", "123456"], env)
      yield* silent.received(1)
      child.kill("SIGINT")
      yield* eventually(Effect.sync(() => output.code), (code) => code !== null, longer.start)
      assert.strictEqual(output.code, 130, output.text)
    }))

  it.effect("a stored login that cannot be read is not needed beside both variables", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const home = yield* temporaryHome
      NodeFs.mkdirSync(NodePath.join(home, "messaging"))
      NodeFs.writeFileSync(NodePath.join(home, "messaging/login.json"), "{")
      const found = yield* messaging(["domains", "list"], { ...env, XDG_CONFIG_HOME: home })
      assert.strictEqual(found.code, 0, found.stderr)
    }))

  it.effect("webhooks listen answers with a redirect of the program, and follows none", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const receiver = yield* makeWebhookReceiver({ script: [{ status: 302, headers: { location: "/other" } }, 200] })
      const words = ["webhooks", "listen", "--port", String(yield* freePort), "--forward-to", receiver.url]
      const { output } = yield* startMessaging([...words, "--events", "email.*"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("Ctrl-C"), longer.start)
      yield* messaging(["send", "email", "ada@example.com", "--subject", "Hello", "--text", "Hello"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("attempt 2"), longer.start)
      assert.match(output.text, /attempt 1, .*: verified, forwarded: 302/)
      assert.deepStrictEqual(receiver.requests.map(({ method }) => method), ["POST", "POST"])
    }))

  it.effect("logs --follow prints all of more messages than a page has, that come between two looks", () =>
    Effect.gen(function*() {
      const { env, key } = yield* environment
      const node = yield* Service
      const { output } = yield* startMessaging(["logs", "--follow", "--channel", "email"], env)
      yield* messaging(["send", "email", "first@people.example", "--subject", "First", "--text", "Hello"], env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("first@people.example"), longer.start)
      const recipients = Array.from({ length: 250 }, (_, index) => `many${index}@people.example`)
      const json = { subject: "Many", text: "Hello", recipients }
      const sent = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
      assert.strictEqual(sent.status, 202, sent.text)
      yield* eventually(
        Effect.sync(() => output.text),
        (text) => recipients.every((to) => text.includes(`to ${to} `))
      )
    }))

  it.effect("whatsapp pair draws the code, waits for the scan, and the session sends", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const { child, output } = yield* startMessaging(["whatsapp", "pair", "--name", "Shop"], env)
      const text = yield* eventually(Effect.sync(() => output.text), (text) =>
        text.includes("scan the code"), longer.start)
      assert.match(text, /^█+\n██ ▄▄▄▄▄ /)
      const id = Number(/^Session (\d+):/m.exec(text)?.[1])
      yield* scan(id, "15550108001")
      yield* eventually(
        Effect.sync(() =>
          output.code
        ),
        (code) => code !== null
      )
      assert.match(output.text, new RegExp(`Session ${id} is connected as 15550108001\\.`))
      assert.strictEqual(child.exitCode, 0)
      const sent = yield* messaging(["send", "whatsapp", "15550100301", "--type", "location", "--", "-1.95,30.06"], env)
      assert.match(sent.stdout, /^WhatsApp message \d+ to .* is queued\.$/m, sent.stderr)
      const message = yield* messaging(["send", "whatsapp", "15550100301", "Ready", "--session", String(id)], env)
      assert.match(message.stdout, /^WhatsApp message \d+ to .* is queued\.$/m, message.stderr)
      yield* eventually(
        messaging(["logs", "--channel", "whatsapp"], env),
        ({ stdout }) => /whatsapp {2}(?:sent|delivered|read) .* to \+?15550100301 {2}Ready/.test(stdout)
      )
      assert.match((yield* messaging(["whatsapp", "list"], env)).stdout, /connected\t15550108001\tShop/)
    }))

  it.effect("domains add prints the records, and verify fails while they are missing", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const added = yield* messaging(["domains", "add", "cli.example.org"], env)
      assert.match(added.stdout, /cli\.example\.org is pending\. Publish these DNS records:\n {2}TXT\t/)
      const verified = yield* messaging(["domains", "verify", "cli.example.org"], env)
      assert.strictEqual(verified.code, 1)
      assert.match(verified.stderr, /not verified yet: \d records? to repair/)
      const unknown = yield* messaging(["domains", "verify", "other.example.org"], env)
      assert.match(unknown.stderr, /no domain other\.example\.org\. Run: messaging domains add/)
    }))

  it.effect("domains verify succeeds once the records that domains add printed are published", () =>
    Effect.gen(function*() {
      const { address, zone } = yield* makeDnsServer({})
      const { baseUrl } = yield* startNode({ env: { DNS_SERVERS: address } })
      const env = { ...(yield* environment).env, MESSAGING_URL: baseUrl }
      const { stdout } = yield* messaging(["domains", "add", "cli.example.net"], env)
      for (const [, type = "", name = "", value = ""] of stdout.matchAll(/^ {2}(\w+)\t(.*)\t(.*)$/gm)) {
        const [preference = "", exchange = ""] = value.split(" ")
        zone[name] = {
          ...Object(zone[name]),
          ...(type === "MX" ? { MX: [[Number(preference), exchange]] } : { [type]: [value] })
        }
        if (type === "MX") zone[exchange] = { A: ["192.0.2.25"] }
      }
      const verified = yield* messaging(["domains", "verify", "CLI.example.net"], env)
      assert.strictEqual(verified.code, 0, verified.stderr + verified.stdout)
      assert.match(verified.stdout, /^cli\.example\.net is verified\.\nverified: /)
      assert.match((yield* messaging(["domains", "list"], env)).stdout, /^\d+\tverified\tcli\.example\.net$/m)
    }))

  it.effect("webhooks listen verifies and forwards each event, and deletes its webhook at the end", () =>
    Effect.gen(function*() {
      const { env } = yield* environment
      const receiver = yield* makeWebhookReceiver()
      const port = yield* freePort
      const words = [
        "webhooks",
        "listen",
        "--port",
        String(port),
        "--forward-to",
        receiver.url,
        "--events",
        "sms.*,email.*"
      ]
      const { child, output } = yield* startMessaging(words, env)
      yield* eventually(Effect.sync(() => output.text), (text) => text.includes("Ctrl-C"), longer.start)
      yield* messaging(["send", "email", "ada@example.com", "--subject", "Hello", "--text", "Hello"], env)
      const [delivery] = yield* receiver.received(1)
      assert.strictEqual(delivery?.headers["x-service-event"], "email.sent")
      assert.isString(delivery?.headers["x-service-signature"])
      yield* eventually(
        Effect.sync(() => output.text),
        (text) => /email\.sent, attempt 1, .*: verified, forwarded: 2\d\d/.test(text)
      )
      child.kill("SIGINT")
      yield* eventually(Effect.sync(() => output.code), (code) => code !== null, longer.start)
      assert.strictEqual(output.code, 0, output.text)
      assert.strictEqual((yield* messaging(["webhooks", "list"], env)).stdout.trim(), "")
    }))

  it.effect("otp sends a code, and check tells a wrong one by its exit code", () =>
    Effect.gen(function*() {
      const { accountId } = yield* environment
      const { baseUrl, request } = yield* Service
      const { key } = yield* makeKey(accountId, { scopes: ["verify:write"] })
      const env = { MESSAGING_API_KEY: key, MESSAGING_URL: baseUrl }
      const sent = yield* messaging(["otp", "send", "+250788222333", "--channel", "sms"], env)
      assert.match(sent.stdout, /^A code goes to \+250788222333 by sms/)
      const texts = request("GET", "/sandbox/sms", { headers: { accept: "application/json" } })
      const { text } = yield* eventually(texts, ({ text }) => text.includes("250788222333"))
      const code = /\b(\d{6})\b/.exec(text.slice(text.indexOf("250788222333")))?.[1] ?? ""
      const wrong = yield* messaging(["otp", "check", "+250788222333", code === "000000" ? "000001" : "000000"], env)
      assert.strictEqual(wrong.code, 1)
      assert.match(wrong.stderr, /^The code is wrong\. \d attempts? left\.$/m)
      const right = yield* messaging(["otp", "check", "+250788222333", code], env)
      assert.strictEqual(right.code, 0, `${text} ${right.stderr}`)
    }))
})
