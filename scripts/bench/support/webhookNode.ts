/** A node of {@link WebhookService} in a separate process that answers questions. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Duration, Effect, type Layer, References } from "effect"
import { AccountId, WebhookId } from "../../../src/values/Ids.ts"
import { Recoveries } from "../../../src/webhooks/Recoveries.ts"
import { type Memory, memoryCollected } from "./memory.ts"
import { answerQuestions } from "./peer.ts"
import { allDelivered, listen, publish, publishAll, type Target, unlisten, WebhookService } from "./webhookService.ts"

interface Work {
  readonly targets: ReadonlyArray<Target>
  readonly count: number
  /** The limit of unanswered events, above which inserts wait; unlimited by default. */
  readonly unanswered?: number
}

interface Paced extends Work {
  /** Events per second. */
  readonly perSecond: number
  readonly perTransaction: number
}

/** A question to a node. */
export type Request =
  | { readonly ask: "listen"; readonly ports: ReadonlyArray<number> }
  | { readonly ask: "unlisten"; readonly targets: ReadonlyArray<Target> }
  | { readonly ask: "publish" | "deliver" } & Work
  | Paced & { readonly ask: "pace" }
  | { readonly ask: "recover"; readonly targets: ReadonlyArray<Target> }
  | { readonly ask: "memory" }

/** The answer of a node; only the requested fields are present. */
export interface Reply extends Partial<Memory> {
  readonly targets?: ReadonlyArray<Target>
  /** Deliveries per second, from the first inserted event to the last recorded outcome. */
  readonly perSecond?: number
  /** When each event's transaction had committed, by number, on the machine's monotonic clock. */
  readonly committedAt?: ReadonlyArray<number>
  /** Milliseconds of two calls at once: the one that starts a recovery, and the one that is refused. */
  readonly millis?: ReadonlyArray<number>
}

const publishWork = ({ count, targets, unanswered = Infinity }: Work) => publishAll(targets, count, unanswered)

const deliver = Effect.fnUntraced(function*(work: Work) {
  const { count, targets } = work
  const startedAt = performance.now()
  yield* publishWork(work)
  yield* allDelivered(targets)
  return { perSecond: count / ((performance.now() - startedAt) / 1000) }
})

/** Starts each transaction by the clock, whether or not earlier ones have ended. */
const pace = Effect.fnUntraced(function*({ count, perSecond, perTransaction, targets }: Paced) {
  const committedAt = Array.from({ length: count }, () => 0)
  const startedAt = performance.now()
  const starts = Array.from({ length: count / perTransaction }, (_, index) => index * perTransaction)
  yield* Effect.forEach(starts, (from) =>
    Effect.gen(function*() {
      yield* Effect.sleep(Duration.millis(Math.max(0, startedAt + from * 1000 / perSecond - performance.now())))
      yield* publish(targets, { from, count: perTransaction })
      committedAt.fill(Number(process.hrtime.bigint()), from, from + perTransaction)
    }), { concurrency: "unbounded", discard: true })
  const elapsed = performance.now() - startedAt
  yield* allDelivered(targets)
  return { committedAt, perSecond: count / (elapsed / 1000) }
})

/** Starts a recovery of a webhook twice at once. */
const recover = Effect.fnUntraced(function*({ accountId, webhookId }: Target) {
  const recoveries = yield* Recoveries
  const webhook = { accountId: AccountId.make(accountId), id: WebhookId.make(webhookId) }
  const startedAt = performance.now()
  const start = recoveries.start(webhook, { since: "2020-01-01T00:00:00Z" }).pipe(
    Effect.as("started"),
    Effect.catchTag("RecoveryInProgress", () => Effect.succeed("refused")),
    Effect.map((outcome) => ({ outcome, millis: performance.now() - startedAt }))
  )
  const calls = (yield* Effect.all([start, start], { concurrency: 2 })).toSorted((a, b) => a.millis - b.millis)
  const outcomes = calls.map(({ outcome }) => outcome)
  if (outcomes.join() !== "started,refused") return yield* Effect.die(`two calls at once: ${outcomes.join()}`)
  return { millis: calls.map(({ millis }) => millis) }
})

type Node = Layer.Success<typeof WebhookService>

const reply = (request: Request): Effect.Effect<Reply, unknown, Node> => {
  switch (request.ask) {
    case "listen":
      return Effect.map(Effect.forEach(request.ports, listen), (targets) => ({ targets }))
    case "unlisten":
      return Effect.as(Effect.forEach(request.targets, unlisten, { discard: true }), {})
    case "publish":
      return Effect.as(publishWork(request), {})
    case "deliver":
      return deliver(request)
    case "pace":
      return pace(request)
    case "recover":
      return Effect.map(Effect.forEach(request.targets, recover), ([reply]) => reply ?? {})
    case "memory":
      return Effect.sync(memoryCollected)
  }
}

const program = Effect.gen(function*() {
  const context = yield* Effect.context<Node>()
  answerQuestions<Request>({}, (request) => Effect.runPromiseWith(context)(reply(request)))
  return yield* Effect.never
})

NodeRuntime.runMain(
  program.pipe(Effect.provide(WebhookService), Effect.provideService(References.MinimumLogLevel, "Error"))
)
