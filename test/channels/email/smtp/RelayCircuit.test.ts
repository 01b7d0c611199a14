import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { RelayCircuit } from "../../../../src/channels/email/smtp/RelayCircuit.ts"

const pauses = { first: 1_000, longest: 30_000 }

const Step = Schema.Struct({
  wait: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20_000 })),
  outcome: Schema.Literals(["succeed", "fail", "vanish", "pending"])
})

describe("RelayCircuit", () => {
  it.prop(
    "keeps its pause between the bounds and lets at most one probe out",
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
        if (outcome === "fail") circuit = RelayCircuit.trip(circuit, { now, reason: "down", pauses })
        if (circuit._tag === "Open") {
          assert.isAtLeast(circuit.pause, pauses.first)
          assert.isAtMost(circuit.pause, pauses.longest)
        }
      }
    }
  )

  it("does not lengthen its pause for those who were under way when it opened", () => {
    const once = RelayCircuit.trip(RelayCircuit.closed, { now: 0, reason: "down", pauses })
    const twice = RelayCircuit.trip(once, { now: 10, reason: "down", pauses })
    assert.strictEqual(twice, once)
  })
})
