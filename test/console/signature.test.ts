/** The commands of a delivery's page compute the signature that the service sent. */
import { assert, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import {
  saveBody,
  signatureCommand,
  type SignatureTool,
  timestampOf
} from "../../src/console/pages/webhooks/signature.ts"
import * as WebhookSecret from "../../src/webhooks/endpoint/WebhookSecret.ts"
import { programAt } from "../support/programs.ts"

const programs: Readonly<Record<SignatureTool, string>> = {
  openssl: "openssl",
  node: "node",
  python: "python3",
  php: "php",
  go: "go"
}

const payload = { id: "evt_1", event: "email.sent", data: { subject: "Ada's \"receipt\" – $5 \\ 100 %" } }
const startedAt = "2026-05-03T22:30:00.999Z"
const secret = WebhookSecret.generate()

for (const [tool, program] of Object.entries(programs) as ReadonlyArray<[SignatureTool, string]>) {
  it.skipIf(programAt(program) === undefined)(`the command for ${tool} prints the signature that was sent`, () => {
    const folder = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "signature-"))
    try {
      const commands = `${saveBody({ payload })}\n${signatureCommand(tool, { event_id: "evt_1", startedAt })}`
      const printed = NodeChildProcess.execFileSync("sh", ["-c", commands], {
        cwd: folder,
        env: { ...process.env, WEBHOOK_SECRET: Redacted.value(secret) }
      })
      const sent = WebhookSecret.sign({
        event: "email.sent",
        event_id: "evt_1",
        delivery_id: 1,
        attempt: 1,
        timestamp: timestampOf(startedAt),
        body: Buffer.from(JSON.stringify(payload)),
        key: WebhookSecret.signingKey(secret)
      })
      assert.strictEqual(printed.toString().trim(), sent["webhook-signature"])
    } finally {
      NodeFs.rmSync(folder, { recursive: true })
    }
  })
}
