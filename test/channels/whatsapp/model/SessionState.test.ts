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
  Schema.TaggedStruct("CodeRequested", {}),
  Schema.TaggedStruct("RetryDue", {}),
  Schema.TaggedStruct("Closed", {
    cause: Schema.Literals(["restart", "logged_out", "replaced", "codes_expired", "lost"])
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
  it("becomes connected after pairing and one immediate restart (515)", () => {
    const steps = live(fresh, [{ _tag: "Paired" }, closed("restart"), { _tag: "Opened" }])
    assert.deepStrictEqual(steps[1]?.next, { _tag: "Connect", delay: "none" })
    assert.isUndefined(steps[1]?.event)
    assert.strictEqual(steps[2]?.state.status, "connected")
    assert.deepStrictEqual(steps[2]?.event, { _tag: "Connected" })
  })

  it("publishes one disconnect for a lost connection, and one connect when it is back", () => {
    const [first, second, back] = live(connected, [lost, lost, { _tag: "Opened" }])
    assert.strictEqual(first?.state.status, "disconnected")
    assert.deepStrictEqual(first?.event, { _tag: "Disconnected", reason: "connection_lost", reconnecting: true })
    assert.deepStrictEqual(first?.next, { _tag: "Connect", delay: "back_off" })
    assert.isUndefined(second?.event)
    assert.deepStrictEqual(back?.event, { _tag: "Connected" })
    assert.strictEqual(back?.state.failures, 2)
  })

  it("fails after 30 retries, keeps its credentials and retries them later", () => {
    const steps = live(connected, Array.from({ length: retries + 1 }, () => lost))
    assert.isTrue(steps.slice(0, -1).every(({ next }) => next._tag === "Connect"))
    const last = steps.at(-1)
    assert.strictEqual(last?.state.status, "failed")
    assert.isTrue(last?.state.is_paired)
    assert.deepStrictEqual(last?.next, { _tag: "Idle", retryLater: true })
    assert.deepStrictEqual(last?.event, { _tag: "Disconnected", reason: "retries_exhausted", reconnecting: false })
    const [due, again] = live(last?.state ?? fresh, [{ _tag: "RetryDue" }, lost])
    assert.deepStrictEqual(due?.next, { _tag: "Connect", delay: "none" })
    assert.deepStrictEqual(again, { state: last?.state ?? fresh, next: { _tag: "Idle", retryLater: true } })
    const [open] = live(last?.state ?? fresh, [{ _tag: "Opened" }])
    assert.strictEqual(open?.state.failures, 0)
  })

  it("resets its failures only after a stable connection", () => {
    const steps = live(connected, [lost, { _tag: "Opened" }, lost, { _tag: "Opened" }, { _tag: "Stable" }])
    assert.deepStrictEqual(steps.map(({ state }) => state.failures), [1, 1, 2, 2, 0])
  })

  it("fails at once and erases its credentials when the phone logs it out", () => {
    for (const state of [connected, { ...connected, status: "disconnected" as const }]) {
      const step = transition(state, closed("logged_out"), retries)
      assert.strictEqual(step.state.status, "failed")
      assert.isTrue(step.erase)
      assert.isFalse(step.state.is_paired)
      assert.deepStrictEqual(step.next, { _tag: "Idle", retryLater: false })
      assert.deepStrictEqual(step.event, { _tag: "Disconnected", reason: "logged_out", reconnecting: false })
      assert.strictEqual(transition(step.state, { _tag: "CodeRequested" }, retries).state.status, "pending")
    }
  })

  it("reconnects once after another client used its credentials (440), and fails the second time", () => {
    const [first, back, second] = live(connected, [closed("replaced"), { _tag: "Opened" }, closed("replaced")])
    assert.strictEqual(first?.state.status, "disconnected")
    assert.deepStrictEqual(first?.next, { _tag: "Connect", delay: "replaced" })
    assert.deepStrictEqual(first?.event, { _tag: "Disconnected", reason: "replaced", reconnecting: true })
    assert.strictEqual(back?.state.status, "connected")
    assert.strictEqual(second?.state.status, "failed")
    assert.deepStrictEqual(second?.next, { _tag: "Idle", retryLater: false })
    assert.deepStrictEqual(second?.event, { _tag: "Disconnected", reason: "replaced", reconnecting: false })
    assert.isTrue(second?.state.is_paired)
    assert.deepStrictEqual(transition(second?.state ?? fresh, { _tag: "RetryDue" }, retries).next, {
      _tag: "Idle",
      retryLater: false
    })
  })

  it("fails when no phone scans its codes, and is pending again after a request", () => {
    const [used, asked] = live(fresh, [closed("codes_expired"), { _tag: "CodeRequested" }])
    assert.strictEqual(used?.state.status, "failed")
    assert.strictEqual(used?.state.reason, "qr_expired")
    assert.isUndefined(used?.event)
    assert.strictEqual(asked?.state.status, "pending")
    assert.isNull(asked?.state.reason)
  })

  it("backs off from the second consecutive restart on", () => {
    const steps = live(connected, [closed("restart"), closed("restart"), closed("restart")])
    assert.deepStrictEqual(steps.map(({ next }) => next._tag === "Connect" && next.delay), [
      "none",
      "back_off",
      "back_off"
    ])
  })

  it.prop("keeps its invariants for every state and input", [State, Input], ([given, received]) => {
    const before: SessionState = given
    const input: SessionInput = received
    const { erase, event, next, state: after } = transition(before, input, retries)
    assert.isTrue(after.failures >= 0 && after.failures <= retries + 1)
    // Only a logout by the phone erases credentials.
    assert.strictEqual(erase === true, input._tag === "Closed" && input.cause === "logged_out")
    assert.strictEqual(before.is_paired && !after.is_paired, before.is_paired && erase === true)
    // After an end, idle and failed are the same. A session that connects is not connected.
    if (input._tag === "Closed") assert.strictEqual(next._tag === "Idle", after.status === "failed")
    if (next._tag === "Connect") assert.notStrictEqual(after.status, "connected")
    if (after.status === "connected") assert.strictEqual(next._tag, "Stay")
    // Every change to connected publishes an event. Only a session that was connected publishes a disconnect.
    assert.strictEqual(event?._tag === "Connected", before.status !== "connected" && after.status === "connected")
    if (event?._tag === "Disconnected") {
      assert.include(["connected", "disconnected"], before.status)
      assert.strictEqual(event.reconnecting, next._tag === "Connect")
    }
    if (before.status === "connected" && after.status !== "connected") assert.strictEqual(event?._tag, "Disconnected")
  })

  it.prop("becomes idle after enough lost connections", [State], ([state]) => {
    let step = transition(state, lost, retries)
    for (let count = 0; count < retries + 1 && step.next._tag === "Connect"; count++) {
      step = transition(step.state, lost, retries)
    }
    assert.strictEqual(step.next._tag, "Idle")
  })
})
