import "../../../../src/platform/observability/muteLibsignal.ts"

import { assert, describe, it } from "@effect/vitest"
import {
  type AuthenticationCreds,
  DEFAULT_CONNECTION_CONFIG,
  makeWASocket,
  type SignalDataSet,
  type SignalDataTypeMap
} from "@whiskeysockets/baileys"
import { Effect, Fiber } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import * as NodeTimers from "node:timers/promises"
import { durableAgent } from "../../../../src/channels/whatsapp/baileys/BaileysAuth.ts"
import * as BaileysRatchets from "../../../../src/channels/whatsapp/baileys/BaileysRatchets.ts"
import { decodeValue, encodeValue } from "../../../../src/channels/whatsapp/baileys/keyValues.ts"
import { silentLogger } from "../../../../src/channels/whatsapp/baileys/silentLogger.ts"
import type { MemoryAuth } from "../../../support/baileysClient.ts"
import { readUntil } from "../../../support/readUntil.ts"
import { ann, bob, jid, makeSimulator, paired } from "../../../support/simulatedSession.ts"

/** A store with the latency of a database. */
const slowKeys = (auth: MemoryAuth, millis: number) => ({
  get: async <T extends keyof SignalDataTypeMap>(type: T, ids: Array<string>) => {
    await NodeTimers.setTimeout(millis)
    return auth.keys.get(type, ids)
  },
  set: async (data: SignalDataSet) => {
    await NodeTimers.setTimeout(millis)
    auth.keys.set(data)
  }
})

const connect = (url: string, auth: MemoryAuth, millis: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const keys = slowKeys(auth, millis)
      const state = { isOpen: false, texts: 0, commits: 0, gate: Promise.resolve() }
      const step = new AsyncLocalStorage<BaileysRatchets.StepChanges>()
      const commit = async (changes: BaileysRatchets.StepChanges) => {
        for (const { key, type, value } of changes.values()) {
          auth.keys.set({ [type]: { [key]: value === null ? null : decodeValue(value) } })
        }
        state.commits++
        await state.gate
        await NodeTimers.setTimeout(millis)
      }
      const reading = {
        ...keys,
        get: async <T extends keyof SignalDataTypeMap>(type: T, ids: Array<string>) => {
          const found = await keys.get(type, ids)
          for (const { key, type: kind, value } of step.getStore()?.values() ?? []) {
            if (kind !== type || !ids.includes(key)) continue
            if (value === null) Reflect.deleteProperty(found, key)
            else Object.assign(found, { [key]: decodeValue(value) })
          }
          return found
        },
        set: async (data: SignalDataSet) => {
          const waiting = step.getStore()
          if (waiting === undefined) return keys.set(data)
          for (const [type, values] of Object.entries(data)) {
            for (const [key, value] of Object.entries(values)) {
              const stored = value === null ? null : encodeValue(value)
              waiting.set(`${type}|${key}`, { type, key, value: stored, given: value })
            }
          }
        }
      }
      const { durable, guarded } = BaileysRatchets.make({ step, commit })
      const socket = makeWASocket({
        waWebSocketUrl: url,
        logger: silentLogger,
        emitOwnEvents: false,
        auth: { creds: auth.creds satisfies AuthenticationCreds, keys: reading },
        makeSignalRepository: (...args) => guarded(DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...args)),
        agent: durableAgent(url, durable)
      })
      socket.ev.on("connection.update", ({ connection }) => {
        if (connection === "open") state.isOpen = true
      })
      socket.ev.on("messages.upsert", ({ messages }) => {
        state.texts += messages.filter(({ key, message }) =>
          !key.fromMe && typeof message?.conversation === "string"
        ).length
      })
      return { socket, state }
    }),
    ({ socket }) => Effect.promise(() => socket.end(undefined))
  )

const each = 60

describe("BaileysRatchets", () => {
  for (const millis of [2, 10]) {
    it.live(
      `loses no ratchet step of messages in both directions, with a store latency of ${millis} ms`,
      () =>
        Effect.gen(function*() {
          const simulator = yield* makeSimulator()
          const { auth } = yield* paired(simulator, ann)
          const { socket, state } = yield* connect(simulator.url, auth, millis)
          yield* readUntil(() => state.isOpen, (isOpen) => isOpen)
          yield* Effect.promise(() => simulator.controls.sendText(bob, ann, { text: "first" }))
          yield* readUntil(() => state.texts, (texts) => texts === 1)
          const sending = Effect.forEach(
            Array.from({ length: each }),
            (_, index) => Effect.promise(() => socket.sendMessage(jid(bob), { text: `out ${index}` })),
            { concurrency: 5 }
          )
          const receiving = Effect.forEach(
            Array.from({ length: each }),
            (_, index) => Effect.promise(() => simulator.controls.sendText(bob, ann, { text: `in ${index}` }))
          )
          yield* Effect.all([sending, receiving], { concurrency: 2 })
          yield* readUntil(() => state.texts, (texts) => texts === each + 1)
          const arrived = () => simulator.controls.messages(bob).filter(({ from }) => from === ann).length
          yield* readUntil(arrived, (count) => count === each)
          const { decryptFailures, retriesAnswered, retriesAsked } = simulator.controls.counters().phones[bob] ?? {}
          assert.deepStrictEqual({ decryptFailures, retriesAnswered, retriesAsked }, {
            decryptFailures: 0,
            retriesAnswered: 0,
            retriesAsked: 0
          })
        })
    )
  }

  it.live("sends no byte of a message before its ratchet steps are durable", () =>
    Effect.gen(function*() {
      const simulator = yield* makeSimulator()
      const { auth } = yield* paired(simulator, ann)
      const { socket, state } = yield* connect(simulator.url, auth, 0)
      const arrived = () => simulator.controls.messages(bob).filter(({ from }) => from === ann).length
      yield* readUntil(() => state.isOpen, (isOpen) => isOpen)
      yield* Effect.promise(() => socket.sendMessage(jid(bob), { text: "first" }))
      yield* readUntil(arrived, (count) => count === 1)
      const durable = Promise.withResolvers<void>()
      const before = state.commits
      state.gate = durable.promise
      const sent = yield* Effect.forkChild(Effect.promise(() => socket.sendMessage(jid(bob), { text: "held" })), {
        startImmediately: true
      })
      // The steps of both devices are committing, though the first is not durable.
      yield* readUntil(() => state.commits - before, (commits) => commits >= 2)
      yield* Effect.promise(() => NodeTimers.setImmediate())
      assert.strictEqual(arrived(), 1)
      durable.resolve()
      yield* Fiber.join(sent)
      yield* readUntil(arrived, (count) => count === 2)
    }))

  it("runs one step at a time, continues after a failure, and leaves the caller's context", async () => {
    const context = new AsyncLocalStorage<string>()
    const guard = BaileysRatchets.stepQueue()
    const log: Array<string> = []
    const step = (name: string) => async () => {
      log.push(`${name} begins in ${context.getStore() ?? "nothing"}`)
      // Long enough for another step to start, if the queue allowed it.
      await NodeTimers.setTimeout(5)
      log.push(`${name} ends`)
      if (name === "b") throw new Error("lost")
      return name
    }
    const all = await context.run(
      "a send",
      () => Promise.allSettled([guard(step("a")), guard(step("b")), guard(step("c"))])
    )
    assert.deepStrictEqual(all.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"])
    assert.deepStrictEqual(log, ["a", "b", "c"].flatMap((name) => [`${name} begins in nothing`, `${name} ends`]))
  })
})
