import { assert, describe, it } from "@effect/vitest"
import { decodeGsm, encodeGsm } from "../../../../src/channels/sms/text/gsm0338.ts"
import { type Encoding, segment } from "../../../../src/channels/sms/text/segments.ts"

const family = "👨‍👩‍👧‍👦"

/** Computed by hand from 3GPP 23.038 and 23.040; two other programs and Kannel agree. */
const vectors: ReadonlyArray<readonly [name: string, text: string, encoding: Encoding, sizes: ReadonlyArray<number>]> =
  [
    ["a×160", "a".repeat(160), "gsm7", [160]],
    ["a×161", "a".repeat(161), "gsm7", [153, 8]],
    ["a×306", "a".repeat(306), "gsm7", [153, 153]],
    ["a×307", "a".repeat(307), "gsm7", [153, 153, 1]],
    ["a×459", "a".repeat(459), "gsm7", [153, 153, 153]],
    ["a×460", "a".repeat(460), "gsm7", [153, 153, 153, 1]],
    ["€×80", "€".repeat(80), "gsm7", [160]],
    ["€×81", "€".repeat(81), "gsm7", [152, 10]],
    ["a×159 + €", `${"a".repeat(159)}€`, "gsm7", [153, 8]],
    ["a×152 + € + b×20", `${"a".repeat(152)}€${"b".repeat(20)}`, "gsm7", [152, 22]],
    ["a×152 + € + b×152", `${"a".repeat(152)}€${"b".repeat(152)}`, "gsm7", [152, 153, 1]],
    ["€×153", "€".repeat(153), "gsm7", [152, 152, 2]],
    ["all ten extension characters", "\f^{}\\[~]|€", "gsm7", [20]],
    ["я×70", "я".repeat(70), "ucs2", [70]],
    ["я×71", "я".repeat(71), "ucs2", [67, 4]],
    ["я×134", "я".repeat(134), "ucs2", [67, 67]],
    ["я×135", "я".repeat(135), "ucs2", [67, 67, 1]],
    ["😀×35", "😀".repeat(35), "ucs2", [70]],
    ["😀×36", "😀".repeat(36), "ucs2", [66, 6]],
    ["я×66 + 😀", `${"я".repeat(66)}😀`, "ucs2", [68]],
    ["я×66 + 😀 + я×10", `${"я".repeat(66)}😀${"я".repeat(10)}`, "ucs2", [66, 12]],
    ["я×66 + 😀 + я×66", `${"я".repeat(66)}😀${"я".repeat(66)}`, "ucs2", [66, 67, 1]],
    ["я×62 + a family + я×60", `${"я".repeat(62)}${family}${"я".repeat(60)}`, "ucs2", [67, 66]],
    ["a×69 + ç", `${"a".repeat(69)}ç`, "ucs2", [70]],
    ["a×70 + ç", `${"a".repeat(70)}ç`, "ucs2", [67, 4]],
    ["160 characters with one ’", `${"a".repeat(80)}’${"a".repeat(79)}`, "ucs2", [67, 67, 26]],
    ["a×158 + CRLF", `${"a".repeat(158)}\r\n`, "gsm7", [160]],
    ["a×159 + CRLF", `${"a".repeat(159)}\r\n`, "gsm7", [153, 8]],
    ["@×160", "@".repeat(160), "gsm7", [160]],
    ["é, Ç, ¤ and the Greek capitals", "éÇ¤ΔΦΓΛΩΠΨΣΘΞ", "gsm7", [13]],
    ...["ç", "`", "\t", "\u00a0", "\u001b", "e\u0301", "Α", "Β", "\u2126"].map((text) =>
      [`U+${text.codePointAt(text.length - 1)?.toString(16)}`, text, "ucs2", [text.length]] as const
    )
  ]

/** An independent oracle: a list of the characters of 23.038, and the greedy rule written backwards. */
const alphabet = new Set([
  ..."@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ÄÖÑÜ§¿äöñüà",
  ...Array.from({ length: 26 }, (_, index) => String.fromCodePoint(65 + index)),
  ...Array.from({ length: 26 }, (_, index) => String.fromCodePoint(97 + index))
])
const doubled = new Set("\f^{}\\[~]|€")

const isGsm = (text: string) => [...text].every((each) => alphabet.has(each) || doubled.has(each))
const weight = (text: string, gsm: boolean) =>
  gsm ? [...text].reduce((sum, each) => sum + (doubled.has(each) ? 2 : 1), 0) : text.length

/** xorshift: the same texts in every run. */
const random = (seed: number) => {
  let state = seed
  return (below: number) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

const gsmPool = [..."abcdefgh ÄÖñà@£\r\n€[]{}^|~\\"]
const mixedPool = [...gsmPool, ..."çя’Αé漢", "😀", "👍", "\u0301", "\u200d", family]

const randomTexts = function*(count: number) {
  const next = random(20_260_101)
  for (let index = 0; index < count; index++) {
    const pool = index % 2 === 0 ? gsmPool : mixedPool
    const length = next(index % 5 === 0 ? 700 : 200) + 1
    yield Array.from({ length }, () => pool[next(pool.length)] ?? "").join("")
  }
}

describe("segments", () => {
  for (const [name, text, encoding, sizes] of vectors) {
    it(`splits ${name} into ${sizes.join(" + ")} in ${encoding}`, () => {
      const { parts, ...found } = segment(text)
      assert.deepStrictEqual(found, { encoding, units: sizes.reduce((sum, size) => sum + size, 0) })
      assert.deepStrictEqual(parts.map((part) => weight(part, encoding === "gsm7")), sizes)
      assert.strictEqual(parts.join(""), text)
    })
  }

  it("keeps every character whole, loses none and wastes no room in 20,000 random texts", () => {
    for (const text of randomTexts(20_000)) {
      const { encoding, parts, units } = segment(text)
      const gsm = isGsm(text)
      const [alone, shared] = gsm ? [160, 153] : [70, 67]
      assert.strictEqual(encoding, gsm ? "gsm7" : "ucs2")
      assert.strictEqual(units, weight(text, gsm))
      assert.strictEqual(parts.join(""), text)
      assert.strictEqual(parts.length === 1, units <= alone)
      for (const [index, part] of parts.entries()) {
        assert.isTrue(part.isWellFormed() && part !== "")
        assert.isAtMost(weight(part, gsm), parts.length === 1 ? alone : shared)
        const next = [...parts[index + 1] ?? ""][0]
        if (next !== undefined) assert.isAbove(weight(part + next, gsm), shared)
      }
    }
  })

  it("decodes what it encoded in the GSM alphabet, octet for octet", () => {
    const all = [...alphabet, ...doubled].join("")
    const octets = encodeGsm(all)
    assert.isDefined(octets)
    assert.strictEqual(octets.length, 127 + 20)
    assert.strictEqual(decodeGsm(octets), all)
    assert.deepStrictEqual([...encodeGsm("@€a\f") ?? []], [0x00, 0x1b, 0x65, 0x61, 0x1b, 0x0a])
    assert.isUndefined(encodeGsm("ç"))
  })

  it("decodes any octets", () => {
    const next = random(7)
    for (let index = 0; index < 2_000; index++) {
      const octets = Uint8Array.from({ length: next(200) }, () => next(256))
      assert.isTrue(decodeGsm(octets).isWellFormed())
    }
  })
})
