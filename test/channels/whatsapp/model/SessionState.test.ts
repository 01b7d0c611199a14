import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type SessionInput,
  SessionReason,
  type SessionState,
  SessionStatus,
  type SessionStep,
  transition
} from "../../../../src/channels/whatsapp/model/SessionState.ts"

const retries = 30

const Input = Schema.Union([
  Schema.TaggedStruct("Paired", {}),
  Schema.TaggedStruct("Opened", {}),
  Schema.TaggedStruct("Stable", {}),
  Schema.TaggedStruct("Asked", {}),
  Schema.TaggedStruct("TryDue", {}),
  Schema.TaggedStruct("Closed", {
    cause: Schema.Literals(["restart", "logged_out", "replaced", "codes_used_up", "lost"])
  })
])
const State = Schema.Struct({
  status: SessionStatus,
  is_paired: Schema.Boolean,
  is_replaced: Schema.Boolean,
  failures: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: retries })),
  reason: Schema.NullOr(SessionReason)
})

const fresh: SessionState = { status: "pending", is_paired: false, is_replaced: false, failures: 0, reason: null }
const connected: SessionState = { ...fresh, status: "connected", is_paired: true }
const closed = (cause: Extract<SessionInput, { readonly _tag: "Closed" }>["cause"]): SessionInput => ({
  _tag: "Closed",
  cause
})

const live = (state: SessionState, inputs: ReadonlyArray<SessionInput>): ReadonlyArray<SessionStep> => {
  const steps: Array<SessionStep> = []
  for (const input of inputs) steps.push(transition(steps.at(-1)?.state ?? state, input, retries))
  return steps
}

const lost = closed("lost")

describe("a session", () => {
  it("is paired, restarted at once by the server (515), and then connected", () => {
    const steps = live(fresh, [{ _tag: "Paired" }, closed("restart"), { _tag: "Opened" }])
    assert.deepStrictEqual(steps[1]?.next, { _tag: "Connect", pause: "none" })
    assert.isUndefined(steps[1]?.news)
    assert.strictEqual(steps[2]?.state.status, "connected")
    assert.deepStrictEqual(steps[2]?.news, { _tag: "Connected" })
  })

  it("is disconnected when it loses its connection, tells so once, and connected when it is back", () => {
    const [first, second, back] = live(connected, [lost, lost, { _tag: "Opened" }])
    assert.strictEqual(first?.state.status, "disconnected")
    assert.deepStrictEqual(first?.news, { _tag: "Disconnected", reason: "connection_lost", reconnecting: true })
    assert.deepStrictEqual(first?.next, { _tag: "Connect", pause: "retry" })
    assert.isUndefined(second?.news)
    assert.deepStrictEqual(back?.news, { _tag: "Connected" })
    assert.strictEqual(back?.state.failures, 2)
  })

  it("fails after 30 retries, keeps its credentials and tries them again from time to time", () => {
    const steps = live(connected, Array.from({ length: retries + 1 }, () => lost))
    assert.isTrue(steps.slice(0, -1).every(({ next }) => next._tag === "Connect"))
    const last = steps.at(-1)
    assert.strictEqual(last?.state.status, "failed")
    assert.isTrue(last?.state.is_paired)
    assert.deepStrictEqual(last?.next, { _tag: "Rest", tryAgain: true })
    assert.deepStrictEqual(last?.news, { _tag: "Disconnected", reason: "retries_exhausted", reconnecting: false })
    const [due, again] = live(last?.state ?? fresh, [{ _tag: "TryDue" }, lost])
    assert.deepStrictEqual(due?.next, { _tag: "Connect", pause: "none" })
    assert.deepStrictEqual(again, { state: last?.state ?? fresh, next: { _tag: "Rest", tryAgain: true } })
    const [open] = live(last?.state ?? fresh, [{ _tag: "Opened" }])
    assert.strictEqual(open?.state.failures, 0)
  })

  it("forgets failures only once a connection was stable", () => {
    const steps = live(connected, [lost, { _tag: "Opened" }, lost, { _tag: "Opened" }, { _tag: "Stable" }])
    assert.deepStrictEqual(steps.map(({ state }) => state.failures), [1, 1, 2, 2, 0])
  })

  it("fails at once when the phone logs it out, and its credentials go", () => {
    for (const state of [connected, { ...connected, status: "disconnected" as const }]) {
      const step = transition(state, closed("logged_out"), retries)
      assert.strictEqual(step.state.status, "failed")
      assert.isTrue(step.erase)
      assert.isFalse(step.state.is_paired)
      assert.deepStrictEqual(step.next, { _tag: "Rest", tryAgain: false })
      assert.deepStrictEqual(step.news, { _tag: "Disconnected", reason: "logged_out", reconnecting: false })
      assert.strictEqual(transition(step.state, { _tag: "Asked" }, retries).state.status, "pending")
    }
  })

  it("comes back once when somebody else uses its credentials (440), and never fights over them", () => {
    const [first, back, second] = live(connected, [closed("replaced"), { _tag: "Opened" }, closed("replaced")])
    assert.strictEqual(first?.state.status, "disconnected")
    assert.deepStrictEqual(first?.next, { _tag: "Connect", pause: "replaced" })
    assert.deepStrictEqual(first?.news, { _tag: "Disconnected", reason: "replaced", reconnecting: true })
    assert.strictEqual(back?.state.status, "connected")
    assert.strictEqual(second?.state.status, "failed")
    assert.deepStrictEqual(second?.next, { _tag: "Rest", tryAgain: false })
    assert.deepStrictEqual(second?.news, { _tag: "Disconnected", reason: "replaced", reconnecting: false })
    assert.isTrue(second?.state.is_paired)
    assert.deepStrictEqual(transition(second?.state ?? fresh, { _tag: "TryDue" }, retries).next, {
      _tag: "Rest",
      tryAgain: false
    })
  })

  it("fails when nobody scans its codes, and is pending again when somebody asks", () => {
    const [used, asked] = live(fresh, [closed("codes_used_up"), { _tag: "Asked" }])
    assert.strictEqual(used?.state.status, "failed")
    assert.strictEqual(used?.state.reason, "qr_expired")
    assert.isUndefined(used?.news)
    assert.strictEqual(asked?.state.status, "pending")
    assert.isNull(asked?.state.reason)
  })

  it("waits longer and longer for a server that goes on restarting it", () => {
    const steps = live(connected, [closed("restart"), closed("restart"), closed("restart")])
    assert.deepStrictEqual(steps.map(({ next }) => next._tag === "Connect" && next.pause), ["none", "retry", "retry"])
  })

  it.prop("keeps what holds for every state and everything that may happen", [State, Input], ([state, input]) => {
    const before: SessionState = state
    const event: SessionInput = input
    const { erase, news, next, state: after } = transition(before, event, retries)
    assert.isTrue(after.failures >= 0 && after.failures <= retries + 1)
    // Credentials go only when the phone has logged the session out.
    assert.strictEqual(erase === true, event._tag === "Closed" && event.cause === "logged_out")
    assert.strictEqual(before.is_paired && !after.is_paired, before.is_paired && erase === true)
    // Resting and having failed are the same after an end, and whoever waits for a connection is not connected.
    if (event._tag === "Closed") assert.strictEqual(next._tag === "Rest", after.status === "failed")
    if (next._tag === "Connect") assert.notStrictEqual(after.status, "connected")
    if (after.status === "connected") assert.strictEqual(next._tag, "Stay")
    // Connected is told exactly when it becomes so, disconnected only of what was told to be connected.
    assert.strictEqual(news?._tag === "Connected", before.status !== "connected" && after.status === "connected")
    if (news?._tag === "Disconnected") {
      assert.include(["connected", "disconnected"], before.status)
      assert.strictEqual(news.reconnecting, next._tag === "Connect")
    }
    if (before.status === "connected" && after.status !== "connected") assert.strictEqual(news?._tag, "Disconnected")
  })

  it.prop("comes to rest however long it goes on losing connections", [State], ([state]) => {
    let step = transition(state, lost, retries)
    for (let count = 0; count < retries + 1 && step.next._tag === "Connect"; count++) {
      step = transition(step.state, lost, retries)
    }
    assert.strictEqual(step.next._tag, "Rest")
  })
})
