import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { parseSmppUrl } from "../../../../src/channels/sms/smpp/SmppCarrier.ts"
import {
  bindBody,
  readDeliver,
  readSubmitResponse,
  statusCode,
  submitBody,
  verdictOf
} from "../../../../src/channels/sms/smpp/smppMessages.ts"
import { encodePdu, pduBody, PduReader, readPdus } from "../../../../src/channels/sms/smpp/SmppPdu.ts"
import * as SmppRate from "../../../../src/channels/sms/smpp/SmppRate.ts"
import { type MessageIdForm, readReceipt, submittedId } from "../../../../src/channels/sms/smpp/smppReceipt.ts"
import { MessageId } from "../../../../src/values/Ids.ts"
import { PhoneNumber } from "../../../../src/values/PhoneNumber.ts"

const part = {
  message_id: MessageId.make(513),
  part_no: 2,
  parts: 3,
  encoding: "gsm7",
  body: "a€",
  sender: "Shop",
  recipient: Schema.decodeSync(PhoneNumber)("+250788123456"),
  lane: 1,
  account_id: 1
} as const

/** xorshift: the same octets in every run. */
const random = (seed: number) => {
  let state = seed
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const delivered = { esmClass: 4, text: "", receiptedId: undefined, messageState: undefined }

describe("SmppPdu", () => {
  it("encodes submit_sm of a second part with its header and a receipt request, as in the standard", () => {
    assert.strictEqual(
      submitBody(part).toString("hex"),
      [
        "00",
        "0500",
        Buffer.from("Shop\0").toString("hex"),
        "0101",
        Buffer.from("250788123456\0").toString("hex"),
        "400000",
        "0000",
        "01000000",
        "09",
        "050003010302",
        "611b65"
      ].join("")
    )
  })

  it("encodes a long text as message_payload, without a header for a single part", () => {
    const body = submitBody({ ...part, part_no: 1, parts: 1, encoding: "ucs2", body: "я".repeat(200), sender: null })
    assert.strictEqual(body.subarray(0, 4).toString("hex"), "00000000")
    assert.include(body.toString("hex"), `00080000${"0424"}${(400).toString(16).padStart(4, "0")}044f`)
  })

  it("decodes what it encoded, whole or in chunks of any size", () => {
    const pdus = [
      { command: 0x09, status: 0, sequence: 1, body: bindBody({ systemId: "a", password: "b", systemType: "" }) },
      { command: 0x8000_0004, status: 0x58, sequence: 0x7fff_ffff, body: Buffer.alloc(0) },
      { command: 0x04, status: 0, sequence: 3, body: submitBody(part) }
    ]
    const stream = Buffer.concat(pdus.map(encodePdu))
    for (let size = 1; size <= stream.length; size++) {
      let rest: Buffer = Buffer.alloc(0)
      const read = []
      for (let at = 0; at < stream.length; at += size) {
        const some = Result.getOrThrow(readPdus(Buffer.concat([rest, stream.subarray(at, at + size)])))
        read.push(...some.pdus)
        rest = some.rest
      }
      assert.strictEqual(rest.length, 0)
      assert.deepStrictEqual(read.map((pdu) => ({ ...pdu, body: Buffer.from(pdu.body) })), pdus)
    }
  })

  it("fails at an impossible length", () => {
    for (const length of [0, 1, 15, 65_537, 0xffff_ffff]) {
      const bytes = Buffer.alloc(20)
      bytes.writeUInt32BE(length)
      assert.isTrue(Result.isFailure(readPdus(bytes)))
    }
  })

  it("never throws for 20,000 random or damaged PDUs, and never reads past their end", () => {
    const next = random(42)
    const receipt = pduBody(
      "",
      1,
      1,
      "1",
      1,
      1,
      "2",
      4,
      0,
      0,
      "",
      "",
      0,
      0,
      0,
      0,
      5,
      Buffer.from("id:1 "),
      Buffer.of(0, 30, 0, 2, 49, 0)
    )
    for (let index = 0; index < 20_000; index++) {
      const bytes = index % 2 === 0
        ? Buffer.from(Uint8Array.from({ length: next(60) }, () => next(256)))
        : Buffer.from(receipt.subarray(0, next(receipt.length + 1)))
      if (index % 3 === 0 && bytes.length > 0) bytes[next(bytes.length)] = next(256)
      const frames = readPdus(bytes)
      if (Result.isSuccess(frames)) {
        assert.isAtMost(frames.success.rest.length, bytes.length)
      }
      readSubmitResponse(bytes)
      const read = readDeliver(bytes)
      for (const form of ["as-is", "hex-then-decimal", "decimal-then-hex"] as const) {
        if (read !== undefined) readReceipt(read, form)
      }
      const reader = new PduReader(bytes)
      while (reader.left > 0) reader.text()
      assert.isAtMost(reader.parameters().size, 0)
    }
  })
})

describe("readDeliver", () => {
  it("replaces a NUL in the text by a space, because PostgreSQL cannot store it", () => {
    const text = Buffer.from("id:1\0stat:UNDELIV\0 err:0\0")
    const head = ["", 1, 1, "1", 1, 1, "2", 4, 0, 0, "", "", 0, 0, 0, 0] as const
    const read = readDeliver(pduBody(...head, text.length, text))
    assert.strictEqual(read?.text, "id:1 stat:UNDELIV  err:0 ")
    assert.deepStrictEqual(readReceipt({ ...delivered, ...read }, "as-is"), {
      id: "1",
      state: "failed",
      code: "undeliverable",
      detail: "UNDELIV, error 0"
    })
  })
})

describe("readReceipt", () => {
  const text = (fields: string, form: MessageIdForm = "as-is") => readReceipt({ ...delivered, text: fields }, form)

  it("reads receipts in every known form", () => {
    const full =
      "id:0123456789 sub:001 dlvrd:001 submit date:2611210903 done date:2611210904 stat:DELIVRD err:000 text:Hi"
    assert.deepStrictEqual(text(full), { id: "0123456789", state: "delivered", code: "", detail: "DELIVRD, error 000" })
    const openMarket =
      "id:0118Z-0122I-2309U-57DGB sub:001 dlvrd:000 submitdate:000000000000 donedate:000000000000 stat:REJECTED err:102 text:"
    assert.deepInclude(text(openMarket), { id: "0118Z-0122I-2309U-57DGB", state: "failed", code: "rejected" })
    assert.deepInclude(text("STAT:EXPIRED ID:9 ERR:1"), { id: "9", state: "failed", code: "expired" })
    const tagged = { ...delivered, receiptedId: "A1", messageState: 5 }
    assert.deepInclude(readReceipt(tagged, "as-is"), { id: "A1", state: "failed", code: "undeliverable" })
    assert.deepInclude(readReceipt({ ...tagged, esmClass: 0, messageState: 2 }, "as-is"), { state: "delivered" })
  })

  it("ignores the quoted text of the message", () => {
    assert.deepInclude(text("id:1 stat:DELIVRD err:000 text:id:2 stat:UNDELIV"), { id: "1", state: "delivered" })
    assert.isUndefined(text("text:id:2 stat:UNDELIV"))
    assert.strictEqual(text("id:1 stat:DELIVRD text:see err:999")?.detail, "DELIVRD")
    const tagged = { ...delivered, receiptedId: "A1", text: "text:I say stat:UNDELIV" }
    assert.isUndefined(readReceipt(tagged, "as-is"))
  })

  it("returns pending while the message is on its way or its state is unknown", () => {
    for (const stat of ["ENROUTE", "ACCEPTD", "UNKNOWN", "SOMETHING"]) {
      assert.deepInclude(text(`id:1 stat:${stat}`), { state: "pending" })
    }
  })

  it("returns undefined for a text from a phone", () => {
    assert.isUndefined(readReceipt({ ...delivered, esmClass: 0, text: "Hello, my id: 5" }, "as-is"))
  })

  it("returns the same id as the response to the submit, in every combination of forms", () => {
    const id = (form: MessageIdForm, written: string) => text(`id:${written} stat:DELIVRD`, form)?.id
    assert.strictEqual(submittedId("00AB", "hex-then-decimal"), id("hex-then-decimal", "0171"))
    assert.strictEqual(submittedId("171", "decimal-then-hex"), id("decimal-then-hex", "aB"))
    assert.strictEqual(submittedId("0xyz", "hex-then-decimal"), id("hex-then-decimal", "0xyz"))
    assert.notStrictEqual(submittedId("00AB", "as-is"), id("as-is", "AB"))
  })
})

describe("verdictOf", () => {
  it("defers temporary statuses and treats all others as final", () => {
    assert.deepStrictEqual([0, 0x58, 0x14, 0x04, 0x08, 0x64].map(verdictOf), [
      "accepted",
      "throttled",
      "throttled",
      "unbound",
      "deferred",
      "deferred"
    ])
    for (const status of [0x0a, 0x0b, 0x0c, 0x45, 0x33, 0xfe, 0xffff]) assert.strictEqual(verdictOf(status), "refused")
    assert.strictEqual(statusCode(0x0b), "smpp_0x0000000b")
  })
})

const Steps = Schema.Array(Schema.Literals(["reserve", "throttled", "accepted"]))

describe("SmppRate", () => {
  it.prop("never exceeds the maximum rate in any second, and never stops", [Steps], ([steps]) => {
    let state = SmppRate.make(50)
    let now = 1_000
    const places: Array<number> = []
    for (const step of steps) {
      if (step === "reserve") {
        const { next, wait } = SmppRate.reserve(state, now)
        state = next
        places.push(now + wait)
        assert.isBelow(wait, 60_000)
      } else state = step === "throttled" ? SmppRate.throttled(state, now) : SmppRate.accepted(state)
      now += 7
      assert.isAtLeast(state.rate, 1)
      assert.isAtMost(state.rate, 50)
    }
    for (const at of places) {
      assert.isAtMost(places.filter((place) => place >= at && place < at + 1_000).length, 56)
    }
  })

  it("uses up at most a tenth of a second of idle time at once", () => {
    const waits: Array<number> = []
    let state = SmppRate.make(50)
    for (let count = 0; count < 50; count++) {
      const { next, wait } = SmppRate.reserve(state, 10_000)
      state = next
      waits.push(wait)
    }
    assert.deepStrictEqual(waits.map((wait) => wait === 0), waits.map((_, index) => index < 6))
    assert.strictEqual(waits.at(-1), 49 * 20 - 100)
  })

  it("counts all throttling answers of one window as one, and doubles the back-off for the next", () => {
    const first = SmppRate.throttled(SmppRate.make(50), 0)
    assert.deepInclude(first, { rate: 25, pausedUntil: 500 })
    assert.deepStrictEqual(SmppRate.throttled(first, 499), first)
    assert.deepInclude(SmppRate.throttled(first, 500), { rate: 12.5, pausedUntil: 1_500 })
    let state = first
    for (let now = 500; now < 1e6; now = state.pausedUntil) state = SmppRate.throttled(state, now)
    assert.strictEqual(state.backOff, 30_000)
  })
})

describe("parseSmppUrl", () => {
  const read = (text: string) => parseSmppUrl(new URL(text))

  it("returns the carrier's address and the credentials", () => {
    assert.deepStrictEqual(Result.getOrThrow(read("smpp://me:p%40ss@carrier.example")), {
      host: "carrier.example",
      port: 2775,
      tls: false,
      systemId: "me",
      password: "p@ss",
      isPair: false
    })
    assert.deepInclude(Result.getOrThrow(read("smpp://me:x@h?bind=pair")), { host: "h", isPair: true })
    assert.deepInclude(Result.getOrThrow(read("smpp://me:x@h:1/?bind=transceiver")), { port: 1, isPair: false })
    assert.deepInclude(Result.getOrThrow(read("smpps://me:x@[::1]:9000/")), { host: "::1", port: 9000, tls: true })
  })

  it("rejects a missing or long system_id, a path, and characters that end a field early", () => {
    for (
      const text of [
        "smpp://h",
        "smpp://sixteenletters16@h",
        "smpp://a:b@h/x",
        "smpp://a%00b@h",
        "smpp://a:%zz@h",
        "smpp://a:b@h?bind=both",
        "smpp://a:b@h?window=1"
      ]
    ) {
      const parsed = read(text)
      assert.isTrue(Result.isFailure(parsed), text)
    }
  })
})
