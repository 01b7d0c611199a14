import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RelayCircuit } from "../../../../src/channels/email/smtp/RelayCircuit.ts"

const Step = Schema.Struct({
  wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 })),
  outcome: Schema.Literals(["succeed", "fail", "vanish", "pending"])
})

describe("RelayCircuit", () => {
  it("backs off for 1, 2, 4, 8, 16 and then 30 seconds", () => {
    let circuit: RelayCircuit = RelayCircuit.closed
    let now = 0
    const delays = Array.from({ length: 8 }, () => {
      const open = RelayCircuit.trip(RelayCircuit.admit(circuit, now).next, { now, reason: "down" })
      const delay = open.until - now
      assert.strictEqual(RelayCircuit.admit(open, open.until - 1).admission._tag, "Refused")
      assert.strictEqual(RelayCircuit.admit(open, open.until).admission._tag, "Probe")
      circuit = open
      now = open.until
      return delay
    })
    assert.deepStrictEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  })

  it.prop(
    "keeps its back-off between 1 and 30 seconds and admits at most one probe",
    { steps: Schema.Array(Step) },
    ({ steps }) => {
      let circuit: RelayCircuit = RelayCircuit.closed
      let now = 0
      let probes = 0
      for (const { outcome, wait } of steps) {
        now += wait
        const open = circuit
        const { admission, next } = RelayCircuit.admit(circuit, now)
        circuit = next
        if (admission._tag === "Refused") {
          assert.isTrue(open._tag === "Open" && (open.probing || now < open.until))
          assert.isAtLeast(admission.retryInMillis, 1)
          continue
        }
        if (admission._tag === "Probe") probes++
        assert.isAtMost(probes, 1)
        if (outcome === "pending") continue
        probes = 0
        if (outcome === "succeed") circuit = RelayCircuit.closed
        if (outcome === "vanish") circuit = RelayCircuit.abandon(circuit)
        if (outcome === "fail") {
          const failed = RelayCircuit.trip(circuit, { now, reason: "down" })
          circuit = failed
          assert.isAtLeast(failed.until - now, 1_000)
          assert.isAtMost(failed.until - now, 30_000)
        }
      }
    }
  )

  it("does not lengthen its back-off for sends that were in flight when it opened", () => {
    const once = RelayCircuit.trip(RelayCircuit.closed, { now: 0, reason: "down" })
    const twice = RelayCircuit.trip(once, { now: 10, reason: "down" })
    assert.strictEqual(twice, once)
  })
})
