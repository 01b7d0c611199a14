import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { compose } from "../../../../src/channels/email/mime/compose.ts"
import { parseKey, relaxedBody, sign } from "../../../../src/channels/email/mime/dkim.ts"
import { DomainName } from "../../../../src/values/DomainName.ts"
import { EmailAddress } from "../../../../src/values/EmailAddress.ts"

const pemOf = (key: KeyObject) =>
  key.export({ type: key.type === "private" ? "pkcs8" : "spki", format: "pem" }).toString()

const rsa = (modulusLength = 2_048) => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength })
  return { privateKey: pemOf(privateKey), publicKey: pemOf(publicKey) }
}

const pair = rsa()
const published = `v=DKIM1; k=rsa; p=${pair.publicKey.replaceAll(/-----[^-]+-----|\s/g, "")}`
const domain = DomainName.make("example.com")

const signed = (message: Buffer) =>
  Effect.flatMap(parseKey(pair.privateKey), (key) => sign(message, { domain, selector: "api", key }))

/** An independent verifier's verdict on the first signature, with the public key from memory. */
const verdict = Effect.fnUntraced(function*(message: Buffer) {
  const names: Array<string> = []
  const { results } = yield* Effect.promise(() =>
    dkimVerify(message, {
      resolver: (name: string) => {
        names.push(name)
        return Promise.resolve([[published.slice(0, 255), published.slice(255)]])
      }
    })
  )
  return { result: results[0]?.status.result, domain: results[0]?.signingDomain, names }
})

const sealed = ["From", "Reply-To", "To", "Cc", "Subject", "Date"]

const letter = {
  from: { name: "Example, Inc. Ü", address: EmailAddress.make("news@example.com") },
  to: EmailAddress.make("ana@example.net"),
  cc: [EmailAddress.make("bob@example.net")],
  replyTo: { address: EmailAddress.make("help@example.com") },
  subject: "Your order – shipped",
  html: "<p>Hello  Ana\t</p>\n\n<p>Bye</p>\n\n",
  text: "Hello  Ana \n.\n\nBye\n\n\n",
  messageId: "01@example.com",
  date: 1_700_000_000_000,
  feedbackId: "b:a:bulk:svc",
  listUnsubscribe: { url: `https://msg.example/u/${"t".repeat(80)}`, mailto: "u@example.com" }
}

const fields = [
  "From",
  "Reply-To",
  "To",
  "Cc",
  "Subject",
  "Date",
  "Message-ID",
  "MIME-Version",
  "Content-Type",
  "List-Unsubscribe",
  "List-Unsubscribe-Post",
  "Feedback-ID"
]

/** Further signed fields, of letters with one part or from other programs. */
const rarer = ["In-Reply-To", "References", "Content-Transfer-Encoding", "List-Id"]

const short = [
  "From: a@example.com",
  "In-Reply-To: <1@example.com>",
  "References: <0@example.com>",
  " <1@example.com>",
  "Content-Transfer-Encoding: quoted-printable",
  "List-Id: <news.example.com>",
  "",
  "Hello"
].join("\r\n")

/** The message with the field changed, and without the field. */
const tamperings = (message: string, name: string) => {
  const field = new RegExp(`^${name}: (?:[^\r]|\r\n[ \t])*\r\n`, "m")
  assert.match(message, field)
  return [message.replace(field, `${name}: other\r\n`), message.replace(field, "")]
}

describe("a signature", () => {
  it.effect("verifies for its domain and under its selector", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* verdict(yield* signed(compose(letter))), {
        result: "pass",
        domain: "example.com",
        names: ["api._domainkey.example.com"]
      })
    }))

  it.effect("lists the fields that a reader sees once more than they occur, and every other field once", () =>
    Effect.gen(function*() {
      const message = (yield* signed(compose(letter))).toString("latin1")
      const names = /\sh=([^;]+);/.exec(message)?.[1]?.replaceAll(/\s/g, "").split(":")
      assert.deepStrictEqual(names, fields.flatMap((name) => sealed.includes(name) ? [name, name] : [name]))
    }))

  it.effect("verifies for a field whose name is as long as names may be", () =>
    Effect.gen(function*() {
      const headers = { [`X-${"a".repeat(74)}`]: "1", [`X-${"b".repeat(71)}`]: "2" }
      assert.deepInclude(yield* verdict(yield* signed(compose({ ...letter, headers }))), { result: "pass" })
    }))

  it.effect("leaves the message unchanged, and is the same each time", () =>
    Effect.gen(function*() {
      const message = compose(letter)
      const first = yield* signed(message)
      assert.isTrue(first.subarray(first.length - message.length).equals(message))
      assert.isTrue(first.equals(yield* signed(message)))
      assert.isTrue(first.toString("latin1").split("\r\n").every((line) => line.length <= 78 || line.includes("://")))
    }))

  for (const name of [...fields, ...rarer]) {
    it.effect(`breaks if ${name} is changed or removed`, () =>
      Effect.gen(function*() {
        const whole = yield* signed(rarer.includes(name) ? Buffer.from(short) : compose(letter))
        assert.strictEqual((yield* verdict(whole)).result, "pass")
        for (const tampered of tamperings(whole.toString("latin1"), name)) {
          assert.notStrictEqual((yield* verdict(Buffer.from(tampered, "latin1"))).result, "pass")
        }
      }))
  }

  it.effect("covers the encoding of a letter with one part", () =>
    Effect.gen(function*() {
      const { html: _, ...plain } = letter
      const message = (yield* signed(compose(plain))).toString("latin1")
      for (const tampered of tamperings(message, "Content-Transfer-Encoding")) {
        assert.notStrictEqual((yield* verdict(Buffer.from(tampered, "latin1"))).result, "pass")
      }
    }))

  for (const name of sealed) {
    it.effect(`breaks if a second ${name} is added before or after, or a first one`, () =>
      Effect.gen(function*() {
        const { cc: _, replyTo: __, ...short } = letter
        const added = `${name}: evil@example.org\r\n`
        for (const mail of [letter, short]) {
          const message = (yield* signed(compose(mail))).toString("latin1")
          for (const tampered of [added + message, message.replace("MIME-Version", `${added}MIME-Version`)]) {
            assert.notStrictEqual((yield* verdict(Buffer.from(tampered, "latin1"))).result, "pass")
          }
        }
      }))
  }

  it.effect("breaks if the body changes, except for white space at the end of a line", () =>
    Effect.gen(function*() {
      const message = (yield* signed(compose(letter))).toString("latin1")
      const result = (text: string) => Effect.map(verdict(Buffer.from(text, "latin1")), ({ result }) => result)
      assert.notStrictEqual(yield* result(message.replace("Bye", "Buy")), "pass")
      assert.notStrictEqual(yield* result(`${message}more\r\n`), "pass")
      assert.strictEqual(yield* result(message.replace("Bye\r\n", "Bye  \r\n")), "pass")
      assert.strictEqual(yield* result(`${message}\r\n\r\n`), "pass")
    }))

  const body = Schema.Array(Schema.Literals(["a", " ", "  ", "\t", "\r\n", "\r\n\r\n", ".", "\u00a0", "\u00e9"]))
  const value = Schema.Array(Schema.Literals(["a", " ", "\t", "\r\n ", "\r\n\t ", ":", ";", "\u00a0", "\u00e9"]))

  it.effect.prop(
    "verifies for any body and any folded field",
    { body, value },
    ({ body, value }) =>
      Effect.gen(function*() {
        const message = `Subject : ${value.join("")}x\r\nFrom: a@example.com\r\n\r\n${body.join("")}`
        assert.strictEqual(
          (yield* verdict(yield* signed(Buffer.from(message, "latin1")))).result,
          "pass",
          JSON.stringify(message)
        )
      }),
    { arbitrary: { runs: 60 } }
  )

  const text = Schema.Array(
    Schema.Literals(["a", " ", "=", "\n", "\r", ".", "é", "😀", "\ud800", "From ", "-- ", "x".repeat(80)])
  )

  it.effect.prop(
    "verifies for any composed text",
    { text, subject: text },
    ({ subject, text }) =>
      Effect.gen(function*() {
        const message = compose({ ...letter, text: text.join(""), html: text.join(""), subject: subject.join("") })
        assert.strictEqual((yield* verdict(yield* signed(message))).result, "pass")
      }),
    { arbitrary: { runs: 40 } }
  )
})

describe("signing", () => {
  const refused: ReadonlyArray<readonly [string, string, string]> = [
    ["an Ed25519 key", pemOf(generateKeyPairSync("ed25519").privateKey), "ed25519"],
    ["an EC key", pemOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey), "ec"],
    ["an RSA-PSS key", pemOf(generateKeyPairSync("rsa-pss", { modulusLength: 2_048 }).privateKey), "rsa-pss"],
    ["an RSA key of 512 bits", rsa(512).privateKey, "512"],
    ["a public key", pair.publicKey, "PEM"],
    ["half a key", pair.privateKey.slice(0, 200), "PEM"],
    ["garbage", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", "PEM"],
    ["nothing", "", "PEM"]
  ]

  for (const [what, key, reason] of refused) {
    it.effect(`refuses ${what} as a key`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(parseKey(key))
        assert.strictEqual(error._tag, "DkimKeyUnusable")
        assert.include(error.reason, reason)
      }))
  }

  it.effect("accepts a key of 1024 bits, as the standard does", () => parseKey(rsa(1_024).privateKey))

  it.effect("fails for a key that did not come from parseKey", () =>
    Effect.gen(function*() {
      for (
        const key of [
          generateKeyPairSync("ed25519").privateKey,
          generateKeyPairSync("rsa", { modulusLength: 1_024 }).publicKey
        ]
      ) {
        const error = yield* Effect.flip(sign(compose(letter), { domain, selector: "api", key }))
        assert.strictEqual(error._tag, "DkimSigningFailed")
      }
    }))

  it.effect("fails for a message that a relay would change, or without From", () =>
    Effect.gen(function*() {
      const broken = [
        "From: a@example.com\r\n\r\na\nb",
        "From: a@example.com\r\n\r\na\r",
        "To: a@example.com\r\n\r\na",
        "From: a@example.com\r\n"
      ]
      for (const message of broken) {
        assert.strictEqual((yield* Effect.flip(signed(Buffer.from(message))))._tag, "DkimSigningFailed")
      }
    }))
})

/** RFC 6376 3.4.4 implemented literally; undefined if a line end is not CRLF. */
const defined = (body: string): string | undefined => {
  const lines = body.split("\r\n").map((line) => line.split(/[ \t]+/).join(" ").replace(/ $/, ""))
  if (lines.some((line) => line.includes("\r") || line.includes("\n"))) return undefined
  while (lines.at(-1) === "") lines.pop()
  return lines.map((line) => `${line}\r\n`).join("")
}

const relaxed = (body: string) => relaxedBody(Buffer.from(body, "latin1"))?.toString("latin1")

const BodyPiece = Schema.Literals([" ", " ", "\t", "\t", "\r\n", "\r\n", "\r\n", "a", "é", "\u00a0", "\v", "\u0085"])

describe("relaxedBody", () => {
  it.prop(
    "equals the standard's definition for any white space and line ends",
    [Schema.Array(BodyPiece).check(Schema.isMaxLength(40))],
    ([pieces]) => {
      const body = pieces.join("")
      assert.strictEqual(relaxed(body), defined(body), JSON.stringify(body))
    },
    { arbitrary: { runs: 2_000 } }
  )

  it.prop(
    "is undefined for a lone CR or LF",
    [Schema.Array(Schema.Union([BodyPiece, Schema.Literals(["\r", "\n"])]))],
    ([pieces]) => {
      const body = pieces.join("")
      assert.strictEqual(relaxed(body), defined(body), JSON.stringify(body))
    },
    { arbitrary: { runs: 500 } }
  )

  it("equals the examples of RFC 6376 3.4.5", () => {
    assert.strictEqual(relaxed(" C \r\nD \t E\r\n\r\n\r\n"), " C\r\nD E\r\n")
    assert.deepStrictEqual(["", "\r\n", " ", " \t\r\n\r\n"].map(relaxed), ["", "", "", ""])
  })
})
