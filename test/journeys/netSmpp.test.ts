/** Checks our SMPP against Net::SMPP, an independent implementation: the SMSC from its examples. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import { Changes } from "../support/Changes.ts"
import { cli } from "../support/cli.ts"
import { freePort } from "../support/freePort.ts"
import { programAt } from "../support/programs.ts"
import { makeAccount, startNode } from "../support/Service.ts"
import { freshNumber, sendSms, smsReaching } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

/** Path in Debian's libnet-smpp-perl package. */
const example = "/usr/share/doc/libnet-smpp-perl/examples/smsc.pl"
const perl = programAt("perl")
const isThere = perl !== undefined && NodeFs.existsSync(example)

/** The example SMSC on a free port, printing each PDU that it reads. Its process for a bind ends with the connection. */
const makeNetSmpp = Effect.gen(function*() {
  const port = yield* freePort
  let said = ""
  const changes = new Changes(() => said)
  const script = NodeFs.readFileSync(example, "latin1")
    .replace(/^\$port = 9900;/m, `$port = ${port};`)
    .replace(/^\$trace = 0;/m, "$trace = 1;")
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = NodeChildProcess.spawn(perl ?? "", ["-", "3"], { stdio: ["pipe", "ignore", "pipe"] })
      child.stderr.on("data", (chunk: Buffer) => {
        said += chunk.toString("latin1")
        changes.notify()
      })
      child.stdin.end(script)
      return child
    }),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const until = (pattern: RegExp) => Effect.map(changes.until(() => pattern.test(said), longer.start), () => said)
  yield* until(/Entering accept loop/)
  return { url: `smpp://test:secret@127.0.0.1:${port}`, until }
})

describe.skipIf(!isThere)("Net::SMPP (Debian's libnet-smpp-perl; skipped where it is missing)", () => {
  it.live("Net::SMPP accepts our bind and reads our text as written", () =>
    Effect.gen(function*() {
      const smsc = yield* makeNetSmpp
      const env = { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url }
      const node = yield* startNode({ env })
      const { key } = yield* makeAccount()
      const to = freshNumber()
      const id = yield* sendSms(node, key, { to, content: "Hello from a bind", sender_id: "Shop" })
      yield* smsReaching(node, { id, key, statuses: ["sent"] })
      const said = yield* smsc.until(/'short_message' => /)
      for (
        const field of [
          "'system_id' => 'test'",
          `'destination_addr' => '${to.slice(1)}'`,
          "'source_addr' => 'Shop'",
          "'short_message' => 'Hello from a bind'"
        ]
      ) assert.include(said, field)
      assert.match(said, /'registered_delivery' => '?1\b/)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.live("doctor binds to Net::SMPP and unbinds again", () =>
    Effect.gen(function*() {
      const smsc = yield* makeNetSmpp
      const { url } = yield* TestDatabase
      const { stdout } = yield* cli(["doctor"], {
        DATABASE_URL: url,
        ENCRYPTION_KEY: "dGVzdHMgb25seTogdGhpcyBrZXkgc2VhbHMgbm90aCE=",
        SMS_PROVIDER: "smpp",
        SMPP_URL: smsc.url
      })
      assert.include(stdout, "ok    sms: the carrier in SMPP_URL accepts the bind")
      yield* smsc.until(/Remote sent unbind/)
    }).pipe(Effect.provide(TestDatabase.layer)))
})
