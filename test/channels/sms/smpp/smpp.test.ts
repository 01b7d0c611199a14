import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { parseSmppUrl } from "../../../../src/channels/sms/smpp/parseSmppUrl.ts"
import { bindBody, readDeliver, readSubmitAnswer, submitBody } from "../../../../src/channels/sms/smpp/smppMessages.ts"
import { encodePdu, pduBody, PduReader, readPdus } from "../../../../src/channels/sms/smpp/SmppPdu.ts"
import * as Pace from "../../../../src/channels/sms/smpp/SmppRate.ts"
import { type MessageIdForm, readReceipt, submittedId } from "../../../../src/channels/sms/smpp/smppReceipt.ts"
import { statusCode, verdictOf } from "../../../../src/channels/sms/smpp/smppStatus.ts"
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
  lane: 0
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

describe("a unit of SMPP", () => {
  it("has the octets of the standard: submit_sm of a second part, with its header and a receipt asked for", () => {
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

  it("has a text that is too long for its field in a parameter, and no header for one alone", () => {
    const body = submitBody({ ...part, part_no: 1, parts: 1, encoding: "ucs2", body: "я".repeat(200), sender: null })
    assert.strictEqual(body.subarray(0, 4).toString("hex"), "00000000")
    assert.include(body.toString("hex"), `00080000${"0424"}${(400).toString(16).padStart(4, "0")}044f`)
  })

  it("is read back as it was written, whole or in pieces of any size", () => {
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

  it("of an impossible length ends the reading", () => {
    for (const length of [0, 1, 15, 65_537, 0xffff_ffff]) {
      const bytes = Buffer.alloc(20)
      bytes.writeUInt32BE(length)
      assert.isTrue(Result.isFailure(readPdus(bytes)))
    }
  })

  it("of 20,000 random or mutilated ones throws nothing, and no field reaches past its end", () => {
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
      readSubmitAnswer(bytes)
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

describe("a receipt", () => {
  const text = (fields: string, form: MessageIdForm = "as-is") => readReceipt({ ...delivered, text: fields }, form)

  it("is read in every known shape", () => {
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

  it("is not misled by the text of the message, which may say anything", () => {
    assert.deepInclude(text("id:1 stat:DELIVRD err:000 text:id:2 stat:UNDELIV"), { id: "1", state: "delivered" })
    assert.isUndefined(text("text:id:2 stat:UNDELIV"))
    assert.strictEqual(text("id:1 stat:DELIVRD text:see err:999")?.detail, "DELIVRD")
    const tagged = { ...delivered, receiptedId: "A1", text: "text:I say stat:UNDELIV" }
    assert.isUndefined(readReceipt(tagged, "as-is"))
  })

  it("settles nothing while the message is on its way, or when the carrier does not know", () => {
    for (const stat of ["ENROUTE", "ACCEPTD", "UNKNOWN", "SOMETHING"]) {
      assert.deepInclude(text(`id:1 stat:${stat}`), { state: "pending" })
    }
  })

  it("is none where somebody wrote a text", () => {
    assert.isUndefined(readReceipt({ ...delivered, esmClass: 0, text: "Hello, my id: 5" }, "as-is"))
  })

  it("has the same id as the answer to the submit, in whatever forms the two are written", () => {
    const id = (form: MessageIdForm, written: string) => text(`id:${written} stat:DELIVRD`, form)?.id
    assert.strictEqual(submittedId("00AB", "hex-then-decimal"), id("hex-then-decimal", "0171"))
    assert.strictEqual(submittedId("171", "decimal-then-hex"), id("decimal-then-hex", "aB"))
    assert.strictEqual(submittedId("0xyz", "hex-then-decimal"), id("hex-then-decimal", "0xyz"))
    assert.notStrictEqual(submittedId("00AB", "as-is"), id("as-is", "AB"))
  })
})

describe("a carrier's status", () => {
  it("is judged: what passes is tried again, all else is final", () => {
    assert.deepStrictEqual([0, 0x58, 0x14, 0x04, 0x08, 0x64].map(verdictOf), [
      "accepted",
      "throttled",
      "throttled",
      "unbound",
      "later",
      "later"
    ])
    for (const status of [0x0a, 0x0b, 0x0c, 0x45, 0x33, 0xfe, 0xffff]) assert.strictEqual(verdictOf(status), "refused")
    assert.strictEqual(statusCode(0x0b), "smpp_0x0000000b")
  })
})

const Steps = Schema.Array(Schema.Literals(["take", "throttled", "accepted"]))

describe("the pace", () => {
  it.prop("never passes the limit over any second, and never stops", [Steps], ([steps]) => {
    let state = Pace.pace(50)
    let now = 1_000
    const places: Array<number> = []
    for (const step of steps) {
      if (step === "take") {
        const { next, wait } = Pace.take(state, now)
        state = next
        places.push(now + wait)
        assert.isBelow(wait, 60_000)
      } else state = step === "throttled" ? Pace.throttled(state, now) : Pace.accepted(state)
      now += 7
      assert.isAtLeast(state.rate, 1)
      assert.isAtMost(state.rate, 50)
    }
    for (const at of places) {
      assert.isAtMost(places.filter((place) => place >= at && place < at + 1_000).length, 56)
    }
  })

  it("takes all complaints of one window as one, and doubles its pause only for a new one", () => {
    const first = Pace.throttled(Pace.pace(50), 0)
    assert.deepInclude(first, { rate: 25, pausedUntil: 500 })
    assert.deepStrictEqual(Pace.throttled(first, 499), first)
    assert.deepInclude(Pace.throttled(first, 500), { rate: 12.5, pausedUntil: 1_500 })
    let state = first
    for (let now = 500; now < 1e6; now = state.pausedUntil) state = Pace.throttled(state, now)
    assert.strictEqual(state.pause, 30_000)
  })
})

describe("SMPP_URL", () => {
  const read = (text: string) => parseSmppUrl(new URL(text))

  it("names the carrier and who binds", () => {
    assert.deepStrictEqual(Result.getOrThrow(read("smpp://me:p%40ss@carrier.example")), {
      host: "carrier.example",
      port: 2775,
      tls: false,
      systemId: "me",
      password: "p@ss"
    })
    assert.deepInclude(Result.getOrThrow(read("smpps://me:x@[::1]:9000/")), { host: "::1", port: 9000, tls: true })
  })

  it("is refused without a name, with a long one, with a path, and with what would end a field early", () => {
    for (
      const text of ["smpp://h", "smpp://sixteenletters16@h", "smpp://a:b@h/x", "smpp://a%00b@h", "smpp://a:%zz@h"]
    ) {
      const parsed = read(text)
      assert.isTrue(Result.isFailure(parsed), text)
    }
  })
})
