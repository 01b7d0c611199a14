/**
 * Drives a service through its main job and prints each step: `npm run demo`. By default it starts a temporary service.
 * With DEMO_URL, DEMO_KEY and DEMO_TOKEN it uses a running one, which must be on this machine, because the events come
 * back here, and must have no relay, because the recipients do not exist.
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

/** One event for each recipient, and one for the batch. */
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

const inboxLink = ({ baseUrl, sandboxToken }: Target) => `${baseUrl}/sandbox/mail?token=${Redacted.value(sandboxToken)}`

/** The newest mail of the sandbox. Fails without a sandbox: a real relay would send to addresses that do not exist. */
const inbox = Effect.fnUntraced(function*(target: Target) {
  const { baseUrl } = target
  const response = yield* HttpClient.execute(
    HttpClientRequest.get(inboxLink(target)).pipe(
      HttpClientRequest.setUrlParam("per_page", "1"),
      HttpClientRequest.acceptJson
    )
  ).pipe(
    Effect.mapError(() =>
      new DemoStopped({ reason: `No service answers at ${baseUrl}. Start one, or run the demo without DEMO_URL.` })
    )
  )
  if (response.status === 200) return yield* HttpClientResponse.schemaBodyJson(Inbox)(response)
  return yield* new DemoStopped({
    reason:
      `${baseUrl}/sandbox/mail answers ${response.status}. The demo needs a service on this machine without SMTP_URL, and the token that its start printed.`
  })
})

/** A key for the demo, revoked at its end. */
const demoKey = Effect.gen(function*() {
  const { apiKeys } = yield* Client
  const { data } = yield* Effect.acquireRelease(
    apiKeys.create({ payload: { name: "Demo" } }),
    ({ data: { id } }) => Effect.ignore(apiKeys.revoke({ params: { id } }))
  )
  yield* step("key", `${data.key_prefix}… created by POST /v1/api-keys`)
  return Redacted.make(data.key)
})

/** A webhook to this process, removed at the end. */
const demoWebhook = Effect.gen(function*() {
  const { webhooks } = yield* Client
  const receiver = yield* eventReceiver
  const { data } = yield* Effect.acquireRelease(
    webhooks.create({ payload: { url: `${receiver.url}/events`, events } }),
    ({ data: { id } }) => Effect.ignore(webhooks.remove({ params: { id } }))
  )
  receiver.trust(data.secret)
  yield* step("webhook", `${data.url} receives ${events.join(" and ")}`)
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

/** Overwrites the line on a terminal. Elsewhere each change is a new line. */
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

const timeout = Duration.seconds(90)

const job = Effect.fnUntraced(
  function*(target: Target) {
    const receiver = yield* demoWebhook
    const batchId = yield* send
    const { sent } = yield* untilSent(batchId)
    yield* receiver.received(sent, events[0], batchId)
    yield* receiver.received(1, events[1], batchId)
    if (receiver.forged() > 0) return yield* new DemoStopped({ reason: `${receiver.forged()} signatures are wrong.` })
    yield* step("events", `${sent} email.sent and 1 email.bulk_completed arrived, every signature verified`)
    const { data: [newest] } = yield* inbox(target)
    if (newest !== undefined) yield* step("inbox", `newest: "${newest.subject}" to ${newest.to}`)
    return batchId
  },
  Effect.timeoutOrElse({
    duration: timeout,
    orElse: () =>
      new DemoStopped({ reason: "The service did not send all mails and events within 90 seconds. Look into its log." })
  })
)

const clientOf = (target: Target) => Client.layer(target)

const drive = Effect.fnUntraced(function*(target: Target) {
  yield* step("service", target.baseUrl)
  yield* inbox(target)
  const apiKey = yield* Effect.provide(demoKey, clientOf(target))
  return yield* Effect.provide(job(target), clientOf({ ...target, apiKey }))
})

const links = (target: Target, batchId: string) => `
  All mails:       ${inboxLink(target)}
  All endpoints:   ${target.baseUrl}/docs
  The batch:       curl ${target.baseUrl}/v1/email/batches/${batchId} -H 'Authorization: Bearer …'`

const withTemporaryService = Effect.fnUntraced(function*(keep: boolean) {
  yield* Console.log("A temporary service with an empty database:")
  const target = yield* temporaryService
  const batchId = yield* Effect.scoped(drive(target))
  if (!keep) {
    return yield* Console.log(
      "\nThe temporary service is removed. Start yours with npm start, then open the links that it prints."
    )
  }
  yield* Console.log(`${links(target, batchId)}\n  Key:             ${Redacted.value(target.apiKey)}`)
  yield* Console.log("\nIt runs until Ctrl-C.")
  return yield* Effect.never
})

const withRunningService = Effect.fnUntraced(function*(target: Target) {
  yield* Console.log("The running service:")
  const batchId = yield* Effect.scoped(drive(target))
  yield* Console.log(links(target, batchId))
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
  token: flag("token", "DEMO_TOKEN", "Token of that service's sandbox pages"),
  keep: Flag.Boolean("keep").pipe(
    Flag.withDescription("Keep the temporary service until Ctrl-C"),
    Flag.withDefault(false)
  )
}, ({ keep, ...given }) =>
  Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const running = Option.all(given)
    if (Option.isNone(running) && Object.values(given).some(Option.isSome)) {
      return yield* new DemoStopped({ reason: "DEMO_URL, DEMO_KEY and DEMO_TOKEN belong together. Set all or none." })
    }
    yield* Option.isSome(running)
      ? withRunningService({
        baseUrl: running.value.url.replace(/\/+$/, ""),
        apiKey: Redacted.make(running.value.key),
        sandboxToken: Redacted.make(running.value.token)
      })
      : Effect.scoped(withTemporaryService(keep))
    const seconds = ((yield* Clock.currentTimeMillis) - startedAt) / 1000
    yield* Console.log(`Done in ${seconds.toFixed(1)} s.`)
  })).pipe(Command.withDescription("Send 500 personalised mails and receive the signed events"))

/** Prints the message of a documented failure, and the whole cause of a defect. */
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
