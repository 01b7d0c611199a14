import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { batches } from "./batches.ts"
import { domainChecks } from "./domainChecks.ts"
import { failovers } from "./failovers.ts"
import { idempotentRequests } from "./idempotentRequests.ts"
import { notices } from "./notices.ts"
import { runSeed, type Workload } from "./runSeed.ts"
import type { Sessions } from "./Sessions.ts"
import * as SimulatedDatabase from "./SimulatedDatabase.ts"
import { singleEmails } from "./singleEmails.ts"
import { smsParts } from "./smsParts.ts"
import { webhooks } from "./webhooks.ts"
import { whatsApp } from "./whatsApp.ts"

/** A seed runs one of these. */
const workloads = [
  smsParts,
  singleEmails,
  webhooks,
  batches,
  notices,
  domainChecks,
  whatsApp,
  idempotentRequests,
  failovers
]

/** The tables whose changes the ledger reads. */
const followed = [
  ...new Set(
    workloads.flatMap((
      { rows }
    ) => [rows.relation, ...rows.epochs ? [rows.epochs.relation, ...rows.epochs.others] : []])
  )
]

/** So many seeds run beside each other, each on a database. */
const lanes = 2

/** After so many failing seeds the test ends. */
const maxFailures = 3

const rounds = Number(process.env["FAULT_ROUNDS"] ?? 1)

/** Seeds of each workload that run twice. */
const replayed = rounds === 1 ? 2 : 10

/** `npm test` runs 200 seeds, `npm run faults` 5,000, and SIMULATION_SEED only that one. */
const seeds = process.env["SIMULATION_SEED"] === undefined
  ? Array.from({ length: rounds === 1 ? 200 : rounds * 250 }, (_, index) => index)
  : [Number(process.env["SIMULATION_SEED"])]

const workloadOf = (seed: number): Workload => {
  const workload = workloads[seed % workloads.length]
  if (workload === undefined) throw new RangeError(`SIMULATION_SEED must be a whole number, not ${seed}`)
  return workload
}

class Lanes extends Context.Service<Lanes, ReadonlyArray<Sessions>>()(
  "messaging-service/test/simulation/simulation.test/Lanes"
) {
  static readonly layer = Layer.effect(
    Lanes,
    Effect.all(
      Array.from({ length: lanes }, () => SimulatedDatabase.make(followed)),
      { concurrency: lanes }
    )
  )
}

const replay = (seed: number) => `SIMULATION_SEED=${seed} npx vitest run test/simulation`

const run = (seed: number, sessions: Sessions) =>
  Effect.promise(() =>
    runSeed(workloadOf(seed), sessions, seed).catch((error: unknown) => {
      throw new Error(replay(seed), { cause: error })
    })
  )

layer(Lanes.layer, { excludeTestServices: true })("the simulation", (it) => {
  it.effect.each(seeds.length === 1 ? seeds : seeds.slice(0, replayed * workloads.length))(
    "replays the same schedule for seed %s",
    (seed) =>
      Effect.gen(function*() {
        const traces = yield* Effect.forEach(
          yield* Lanes,
          (sessions) => Effect.map(run(seed, sessions), ({ trace }) => trace),
          { concurrency: "unbounded" }
        )
        for (const trace of traces) assert.deepStrictEqual(trace, traces[0])
      })
  )

  it.effect(
    "keeps each item's outcome right under crashes, freezes, outages, cut connections and wrong clocks",
    () =>
      Effect.gen(function*() {
        const waiting = [...seeds]
        const failures: Array<string> = []
        const traces: Array<string> = []
        const lane = Effect.fnUntraced(function*(sessions: Sessions) {
          for (
            let seed = waiting.shift();
            seed !== undefined && failures.length < maxFailures;
            seed = waiting.shift()
          ) {
            const { trace, violations } = yield* run(seed, sessions)
            if (seeds.length === 1) console.log(trace.join("\n"))
            if (violations.length === 0) continue
            failures.push(`${workloadOf(seed).name}: ${violations.join("; ")}\n${replay(seed)}`)
            traces.push(...trace)
          }
        })
        yield* Effect.forEach(yield* Lanes, lane, { concurrency: "unbounded" })
        assert.strictEqual(failures.length, 0, [...failures, ...traces.slice(0, 1_000)].join("\n"))
      }),
    600_000 * Math.ceil(seeds.length / 1_000)
  )
})
