import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import type * as NodeNet from "node:net"
import { commands, encodePdu, type Pdu, readPdus, responseTo } from "../../../../src/channels/sms/smpp/SmppPdu.ts"
import * as SmppSession from "../../../../src/channels/sms/smpp/SmppSession.ts"
import type { Lease } from "../../../../src/platform/work/WorkPolicy.ts"
import { MessageId } from "../../../../src/values/Ids.ts"
import { PhoneNumber } from "../../../../src/values/PhoneNumber.ts"
import { Changes } from "../../../support/Changes.ts"
import { makeRawServer } from "../../../support/RawServer.ts"

/** A carrier that answers the bind, and each enquire_link while it is well. */
const makeCarrier = Effect.gen(function*() {
  const received: Array<Pdu> = []
  const changes = new Changes(() => received)
  const state = { isWell: true, socket: undefined as NodeNet.Socket | undefined }
  const say = ({ body = new Uint8Array(), command, sequence }: Pick<Pdu, "command" | "sequence"> & Partial<Pdu>) =>
    void state.socket?.write(encodePdu({ command, status: 0, sequence, body }))
  const { url } = yield* makeRawServer((socket) => {
    state.socket = socket
    socket.on("data", (chunk) => {
      for (const pdu of Result.getOrThrow(readPdus(chunk)).pdus) {
        received.push(pdu)
        if (pdu.command < responseTo(0) && state.isWell) say({ ...pdu, command: responseTo(pdu.command) })
      }
      changes.notify()
    })
  })
  const count = (command: number) => received.filter((pdu) => pdu.command === command).length
  return {
    port: Number(new URL(url).port),
    say,
    count,
    received,
    state,
    until: (command: number, n: number) => changes.until(() => count(command) >= n)
  }
})

const open = ({ port }: { readonly port: number }) =>
  SmppSession.open({
    address: { host: "127.0.0.1", port, tls: false, systemId: "test", password: "secret", isPair: false },
    systemType: "",
    onDeliver: () => Effect.void
  })

const part = Effect.map(Schema.decodeEffect(PhoneNumber)("+250788123456"), (recipient) => ({
  message_id: MessageId.make(1),
  part_no: 1,
  parts: 1,
  encoding: "gsm7",
  body: "Hello",
  sender: null,
  recipient,
  lane: 1,
  account_id: 1
} as const))

const held: Lease = { begin: () => true, isHeld: () => true }

describe("SmppSession", () => {
  it.effect("sends enquire_link every 30 seconds, answers the carrier's, and ends with unbind", () =>
    Effect.gen(function*() {
      const carrier = yield* makeCarrier
      yield* Effect.scoped(Effect.gen(function*() {
        yield* open(carrier)
        yield* TestClock.adjust("29 seconds")
        assert.strictEqual(carrier.count(commands.enquireLink), 0)
        yield* TestClock.adjust("1 second")
        yield* carrier.until(commands.enquireLink, 1)
        carrier.say({ command: commands.enquireLink, sequence: 77 })
        yield* carrier.until(responseTo(commands.enquireLink), 1)
      }))
      yield* carrier.until(commands.unbind, 1)
      assert.strictEqual(carrier.count(commands.bindTransceiver), 1)
    }))

  it.effect("closes when the carrier does not answer enquire_link within 10 seconds", () =>
    Effect.gen(function*() {
      const carrier = yield* makeCarrier
      const session = yield* open(carrier)
      const closed = yield* Effect.forkChild(session.closed)
      carrier.state.isWell = false
      yield* TestClock.adjust("30 seconds")
      yield* carrier.until(commands.enquireLink, 1)
      yield* TestClock.adjust("9 seconds")
      assert.isUndefined(closed.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* Fiber.join(closed), "enquire_link was not answered")
      assert.deepStrictEqual(yield* session.submit(yield* part, held), { _tag: "NotSent" })
    }))

  it.effect("ignores responses with another sequence number", () =>
    Effect.gen(function*() {
      const carrier = yield* makeCarrier
      const session = yield* open(carrier)
      carrier.state.isWell = false
      const submitted = yield* Effect.forkChild(session.submit(yield* part, held))
      yield* carrier.until(commands.submitSm, 1)
      const sequence = carrier.received.at(-1)?.sequence ?? 0
      const answer = (to: number, id: string) =>
        carrier.say({ command: responseTo(commands.submitSm), sequence: to, body: Buffer.from(`${id}\0`) })
      answer(sequence + 1, "strange")
      answer(0x7fff_ffff, "stranger")
      answer(sequence, "own")
      carrier.state.isWell = true
      assert.deepStrictEqual(yield* Fiber.join(submitted), { _tag: "Answered", status: 0, id: "own" })
    }))

  it.effect("submits nothing when the lease is lost, and is interrupted", () =>
    Effect.gen(function*() {
      const carrier = yield* makeCarrier
      const session = yield* open(carrier)
      const exit = yield* Effect.exit(session.submit(yield* part, { begin: () => false, isHeld: () => false }))
      assert.isTrue(Exit.hasInterrupts(exit))
      // Its answer comes after whatever was sent before.
      carrier.say({ command: commands.enquireLink, sequence: 77 })
      yield* carrier.until(responseTo(commands.enquireLink), 1)
      assert.strictEqual(carrier.count(commands.submitSm), 0)
    }))
})
