/**
 * Drives a service through its main job, with what happens on the screen: `npm run demo`. Without more it starts a
 * service of its own and removes it again; with DEMO_URL and DEMO_KEY it drives the one that runs there, which has to
 * be on this machine, as the events come back here, and to have no relay, as the recipients are made up.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Clock, Config, Console, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { CliError, Command, Flag } from "effect/cli"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as NodeProcess from "node:process"
import { Client } from "../src/api/Client.ts"
import { EmailAddress } from "../src/values/EmailAddress.ts"
import type { EmailBatchId } from "../src/values/Ids.ts"
import { eventReceiver } from "./demo/eventReceiver.ts"
import { type Target, temporaryService } from "./demo/temporaryService.ts"

const size = 500

/** Each recipient has this one event, and the batch the other. */
const events = ["email.sent", "email.bulk_completed"] as const

/** The demo cannot go on. */
export class DemoStopped extends Schema.TaggedError<DemoStopped>()("DemoStopped", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

const step = (name: string, text: string) => Console.log(`  ${name.padEnd(10)}${text}`)

const Inbox = Schema.Struct({
  data: Schema.Array(Schema.Struct({ id: Schema.Int, to: Schema.String, subject: Schema.String })),
  meta: Schema.Struct({ total: Schema.Int })
})

/** The newest mail of the sandbox, and that there is a sandbox: a real relay would write to people that are made up. */
const inbox = Effect.fnUntraced(function*({ baseUrl }: Target) {
  const response = yield* HttpClient.execute(
    HttpClientRequest.get(`${baseUrl}/sandbox/mail?per_page=1`).pipe(HttpClientRequest.acceptJson)
  ).pipe(Effect.mapError(() => new DemoStopped({ reason: `Nothing answers at ${baseUrl}.` })))
  if (response.status === 200) return yield* HttpClientResponse.schemaBodyJson(Inbox)(response)
  return yield* new DemoStopped({
    reason:
      `${baseUrl}/sandbox/mail answers ${response.status}. The demo wants a service on this machine without SMTP_URL.`
  })
})

/** A key of the demo's own, revoked at its end. */
const ownKey = Effect.gen(function*() {
  const { apiKeys } = yield* Client
  const { data } = yield* Effect.acquireRelease(
    apiKeys.create({ payload: { name: "Demo" } }),
    ({ data: { id } }) => Effect.ignore(apiKeys.revoke({ params: { id } }))
  )
  yield* step("key", `${data.key_prefix}… made by POST /v1/api-keys`)
  return Redacted.make(data.key)
})

/** A webhook that brings the events here, removed at the end. */
const ownWebhook = Effect.gen(function*() {
  const { webhooks } = yield* Client
  const receiver = yield* eventReceiver
  const { data } = yield* Effect.acquireRelease(
    webhooks.create({ payload: { url: `${receiver.url}/events`, events } }),
    ({ data: { id } }) => Effect.ignore(webhooks.remove({ params: { id } }))
  )
  receiver.trust(data.secret)
  yield* step("webhook", `${data.url} takes ${events.join(" and ")}`)
  return receiver
})

const recipients = Array.from({ length: size }, (_, index) => ({
  to: EmailAddress.make(`guest${index + 1}@example.com`),
  variables: { name: `Guest ${index + 1}`, seat: index + 1 }
}))

const send = Effect.gen(function*() {
  const { bulkEmail } = yield* Client
  const { data } = yield* bulkEmail.sendBulk({
    payload: {
      recipients,
      subject: "{{name}}, your seat is {{seat}}",
      html: "<p>Dear {{name}},</p><p>your seat is number <b>{{seat}}</b>.</p>"
    }
  })
  yield* step("mail", `${data.total_recipients} recipients accepted as ${data.batch_id}`)
  return data.batch_id
})

/** On a terminal the line is written over, elsewhere each change is a line. */
const show = (line: string, isLast: boolean) =>
  Effect.sync(() => NodeProcess.stdout.write(NodeProcess.stdout.isTTY && !isLast ? `${line}   \r` : `${line}\n`))

const untilSent = Effect.fnUntraced(function*(batchId: EmailBatchId) {
  const { bulkEmail } = yield* Client
  let shown = ""
  while (true) {
    const { data } = yield* bulkEmail.batch({ params: { batch_id: batchId } })
    const line = `  ${"sending".padEnd(10)}${data.sent} sent, ${data.failed} failed, ${data.queued} queued`
    if (line !== shown) yield* show(line, data.completed_at !== null)
    if (data.completed_at !== null) return data
    shown = line
    yield* Effect.sleep("250 millis")
  }
})

const patience = Duration.seconds(90)

const job = Effect.fnUntraced(
  function*(target: Target) {
    const receiver = yield* ownWebhook
    const batchId = yield* send
    const { sent } = yield* untilSent(batchId)
    yield* receiver.received(sent, events[0], batchId)
    yield* receiver.received(1, events[1], batchId)
    if (receiver.forged() > 0) return yield* new DemoStopped({ reason: `${receiver.forged()} signatures were wrong.` })
    yield* step("events", `${sent} email.sent and 1 email.bulk_completed arrived, every signature verified`)
    const { data: [newest] } = yield* inbox(target)
    if (newest !== undefined) yield* step("inbox", `the newest: "${newest.subject}" to ${newest.to}`)
    return batchId
  },
  Effect.timeoutOrElse({
    duration: patience,
    orElse: () => new DemoStopped({ reason: "Not everything was sent and told within 90 seconds." })
  })
)

const clientOf = (target: Target) => Client.layer(target)

const drive = Effect.fnUntraced(function*(target: Target) {
  yield* step("service", target.baseUrl)
  yield* inbox(target)
  const apiKey = yield* Effect.provide(ownKey, clientOf(target))
  return yield* Effect.provide(job(target), clientOf({ ...target, apiKey }))
})

const whereToLook = (baseUrl: string, batchId: string) => `
  Every mail:      ${baseUrl}/sandbox/mail
  Every endpoint:  ${baseUrl}/docs
  The batch:       curl ${baseUrl}/v1/email/batches/${batchId} -H 'Authorization: Bearer …'`

const ownService = Effect.fnUntraced(function*(keep: boolean) {
  yield* Console.log("A service of its own, on an empty database in a temporary directory:")
  const target = yield* temporaryService
  const batchId = yield* Effect.scoped(drive(target))
  if (!keep) {
    return yield* Console.log("\nThat service is gone again. Yours: npm start, then /sandbox/mail and /docs of it.")
  }
  yield* Console.log(`${whereToLook(target.baseUrl, batchId)}\n  Key:             ${Redacted.value(target.apiKey)}`)
  yield* Console.log("\nIt runs until Ctrl-C.")
  return yield* Effect.never
})

const runningService = Effect.fnUntraced(function*(target: Target) {
  yield* Console.log("The service that runs:")
  const batchId = yield* Effect.scoped(drive(target))
  yield* Console.log(whereToLook(target.baseUrl, batchId))
})

const flag = (name: string, variable: string, meaning: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(`${meaning} (or ${variable})`),
    Flag.withFallbackConfig(Config.String(variable)),
    Flag.optional
  )

const command = Command.make("demo", {
  url: flag("url", "DEMO_URL", "Address of a running service to drive"),
  key: flag("key", "DEMO_KEY", "API key of that service"),
  keep: Flag.Boolean("keep").pipe(
    Flag.withDescription("Keep the service of its own until Ctrl-C"),
    Flag.withDefault(false)
  )
}, ({ keep, key, url }) =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    if (Option.isSome(url) !== Option.isSome(key)) {
      return yield* new DemoStopped({ reason: "DEMO_URL and DEMO_KEY go together." })
    }
    yield* Option.isSome(url) && Option.isSome(key)
      ? runningService({ baseUrl: url.value.replace(/\/+$/, ""), apiKey: Redacted.make(key.value) })
      : Effect.scoped(ownService(keep))
    const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
    yield* Console.log(`Done in ${seconds.toFixed(1)} s.`)
  })).pipe(Command.withDescription("Send 500 personalised mails and receive the signed events"))

/** One sentence where one was written for people; a mistake of this program as it is. */
const explain = (cause: Cause.Cause<unknown>) => {
  const failure = Cause.squash(cause)
  if (Cause.hasInterruptsOnly(cause) || CliError.isCliError(failure)) return Effect.void
  const known = failure instanceof Error && "_tag" in failure && failure.message !== ""
  return Console.error(`\n${known ? failure.message : Cause.pretty(cause)}`)
}

const program = Command.run(command, { version: "0.1.0" }).pipe(
  Effect.tapCause(explain),
  Effect.provide(Layer.merge(NodeServices.layer, NodeHttpClient.layerUndici))
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
