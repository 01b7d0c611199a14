/** Each verdict on a DNS record that needs work, and each warning about a domain, has a text in every language. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { en } from "../../src/console/language/en.ts"
import { Messages } from "../../src/console/language/Messages.ts"
import { ruleOf } from "../../src/console/language/rules.ts"
import { judgeDkim } from "../../src/email-domains/DkimRecord.ts"
import { judgeDmarc } from "../../src/email-domains/DmarcRecord.ts"
import { Purpose } from "../../src/email-domains/EmailDomain.ts"
import { unanswered } from "../../src/email-domains/judge.ts"
import { judgeMx } from "../../src/email-domains/MxRecord.ts"
import { judgeSpf } from "../../src/email-domains/SpfRecord.ts"
import { warningsOf } from "../../src/email-domains/warningsOf.ts"
import { Locale } from "../../src/values/Locale.ts"

const host = "spf.service.example"
const spf = "v=spf1 -all"
const publicKey = "AAAA"

/** A verdict of each kind but the good ones. */
const verdicts = [
  judgeSpf([], host),
  judgeSpf([spf, spf], host),
  judgeSpf([spf], host),
  judgeSpf([spf], host, { name: "other.example", texts: [spf, spf] }),
  judgeSpf([spf], host, { name: "other.example", texts: [spf] }),
  ...[
    [],
    ["text"],
    ["p=AAAA", "p=AAAA"],
    ["p=AAAA; p=AAAA"],
    ["v=DKIM2; p=AAAA"],
    ["k=ed25519; p=AAAA"],
    ["h=sha1; p=AAAA"],
    ["s=chat; p=AAAA"],
    ["p="],
    ["p=***"],
    ["p=BBBB"]
  ].map((texts) => judgeDkim(texts, publicKey)),
  judgeDmarc([]),
  judgeDmarc(["v=DMARC1; p=maybe"]),
  judgeDmarc([], { name: "_dmarc.example.com", texts: ["v=DMARC1; p=maybe"] }),
  judgeDmarc(["v=DMARC1; p=none", "v=DMARC1; p=none"]),
  judgeMx([], host, false),
  judgeMx([{ exchange: host, priority: 10 }], host, false),
  judgeMx([{ exchange: "", priority: 0 }], host, false),
  judgeMx([{ exchange: "mail.example", priority: 10 }], host, false),
  unanswered("The name servers took too long")
]

/** The sentences of the verdicts, then all warnings. */
const sentences = [
  ...verdicts.map(({ detail }) => detail),
  ...warningsOf(Purpose.literals.map((purpose) => ({ purpose, status: "missing", found: [], detail: "" })))
]

describe("a verdict on a DNS record", () => {
  it("has a text of the console, and each text has its verdict", () => {
    const found = sentences.map((sentence) => ruleOf(sentence)?.text ?? sentence)
    assert.deepStrictEqual(
      [...new Set<string>(found)].toSorted(),
      Object.keys(en).filter((key) => key.startsWith("verdict.")).toSorted()
    )
  })

  it.effect("is shown in every language, with the record to publish", () =>
    Effect.gen(function*() {
      const messages = yield* Messages
      const shown = Effect.fnUntraced(function*(locale: Locale) {
        const t = yield* messages.in(locale)
        return sentences.map((sentence) => {
          const rule = ruleOf(sentence)
          return rule === undefined ? sentence : t.named(rule.text, rule.values) ?? sentence
        })
      })
      const english = yield* shown("en")
      for (const locale of Locale.literals.filter((one) => one !== "en")) {
        const texts = yield* shown(locale)
        assert.deepStrictEqual(texts.filter((text) => english.includes(text)), [], locale)
        assert.include(texts[2], `v=spf1 include:${host} -all`)
      }
    }).pipe(Effect.provide(Messages.layer)))
})
