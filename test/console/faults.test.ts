/** Each rule that a form of the console can break has a text in every language. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as NodeFs from "node:fs"
import { PasswordChange } from "../../src/accounts/AccountApi.ts"
import { en } from "../../src/console/language/en.ts"
import { Messages, type Translate } from "../../src/console/language/Messages.ts"
import { ruleOf, rules } from "../../src/console/language/rules.ts"
import { Action, Refused } from "../../src/console/page/Action.ts"
import type { AccountAsk } from "../../src/console/page/Ask.ts"
import { attemptOf, reasonText } from "../../src/console/page/refusals.ts"
import { pages } from "../../src/console/pages/pages.ts"
import { PersonChange } from "../../src/people/Person.ts"
import type { Violation } from "../../src/platform/http/ApiErrors.ts"
import { violationsOf } from "../../src/platform/http/violations.ts"
import { missingValues } from "../../src/templates/requireValues.ts"
import { compile } from "../../src/templates/Template.ts"
import { Locale } from "../../src/values/Locale.ts"
import { endpoints, knownErrors } from "../contract/contract.ts"

/** What people type by mistake, and what a browser lets through. */
const mistakes = [
  "",
  " ",
  "x",
  "x".repeat(70),
  "x".repeat(3_000),
  "a\nb",
  "a\0b",
  "a\u0007b",
  "<b>",
  "two words",
  "*",
  "12",
  "123456789",
  "tomorrow",
  "2030-01-31T09:00",
  "ada",
  "ada@",
  "@example.com",
  "ada@@example.com",
  "ada@example",
  "ada lovelace@example.com",
  "ada@exa mple.com",
  "Ada <ada@example.com",
  "Ada <ada@example.com>",
  "Ada>",
  "Ada, Lovelace <ada@example.com>",
  `${"x".repeat(300)} <ada@example.com>`,
  "ada@example.com; bob@example.com",
  "ada@example.com, bob",
  "\"ada\"@example.com",
  "ada(home)@example.com",
  "ädä@example.com",
  "ada..b@example.com",
  "ada[@example.com",
  `${"a".repeat(65)}@example.com`,
  Array.from({ length: 60 }, (_, index) => `a${index}@example.com`).join(","),
  Array.from({ length: 30 }, (_, index) => `tag${index}`).join(" "),
  Array.from({ length: 30 }, (_, index) => `X-${index}: 1`).join("\n"),
  "tag!",
  "tag tag",
  "0788123456",
  "+250",
  "+250788abc",
  "+250788123456",
  "example",
  "https://example.com/a",
  "example.com:80",
  "1.2.3.4",
  "a..example.com",
  ".example.com",
  `${"a".repeat(64)}.com`,
  `${"a.".repeat(200)}com`,
  "a_b.com",
  "-a.com",
  "a b.com",
  "xn--a.com",
  "co.uk",
  "Content-Type: a",
  "X-A: 1\nx-a: 2",
  "X A: 1",
  "X-A:",
  `X-A: ${"x".repeat(1_001)}`,
  "X-A: é",
  "{{"
]

/** The forms that call an endpoint, with the schema of its body. */
const forms = pages.flatMap(({ actions }) => actions).flatMap((action) => {
  const endpoint = endpoints.find(({ name }) => name === action.endpoint?.replace(/\/$/, ""))
  const payload = [...(endpoint?.declaration.payload?.values() ?? [])].flatMap(({ schemas }) => schemas)[0]
  return action.callOf === undefined || payload === undefined ? [] : [{ action, callOf: action.callOf, payload }]
})

const asked: Partial<AccountAsk> = { params: { id: "1" }, timezone: "UTC" }
const ask = asked as AccountAsk

/** The rules that a schema finds broken. */
const brokenBy = (schema: Schema.Top, body: unknown): ReadonlyArray<Violation> => {
  const decoded = Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)(body, { errors: "all" })
  return Result.isFailure(decoded) ? violationsOf(decoded.failure.issue) : []
}

/** The faults of templates, whose sentences are made of parts. */
const ofTemplates = ["{{", "{{a {{b}}", "{{}}", "{{{a}}}", "{{a b}}", "{{constructor}}", "{{a}}".repeat(1_001)].flatMap(
  (subject) => {
    const compiled = compile({ subject })
    return Result.isFailure(compiled)
      ? compiled.failure.map(({ message }): Violation => ({ param: "subject", type: "invalid_template", message }))
      : []
  }
)

const ofVariables = [{}, { a: {} }].flatMap((variables) => {
  const compiled = compile({ subject: "{{a}}" })
  const fault = Result.isSuccess(compiled) ? missingValues(compiled.success, variables) : undefined
  return fault === undefined ? [] : [{ param: "variables", ...fault }]
})

const refused = (faults: ReadonlyArray<Violation>) =>
  new Refused({ status: 422, type: "validation_error", reason: "", facts: {}, faults })

const own = Action.own({ name: "own", fields: {}, run: () => Effect.never })

const spoken = (locale: Locale) => Effect.flatMap(Messages, (messages) => messages.in(locale))

const shown = (t: Translate, faults: ReadonlyArray<Violation>) =>
  attemptOf(t, { action: own, form: new URLSearchParams() }, refused(faults)).faults.map(({ message }) => message)

/** Says the name of a text in its place. */
const naming = (t: Translate): Translate => ({
  ...t,
  text: (key, ...[values]) => key === "fault.entry" ? String(Object(values).fault) : key,
  named: (key) => Object.hasOwn(en, key) ? key : undefined
})

/** Sources with the rules of the fields that forms have. */
const sources = NodeFs.globSync([
  "src/values/{Text,EmailAddress,PhoneNumber,DomainName,HttpsUrl,Labels,Timestamp}.ts",
  "src/{templates,verify}/*.ts",
  "src/events/EventPattern.ts",
  "src/accounts/{AccountApi,passwordFault,AccountSettings,CurrentPassword,FirstOperator}.ts",
  "src/messages/{sendFields,BatchResends}.ts",
  "src/platform/http/requestBody.ts",
  "src/channels/email/{single,request,suppressions}/{Emails,EmailApi,EmailChanges,Mailbox,DefaultSender,SuppressionsApi}.ts",
  "src/channels/sms/{SmsApi,SmsMessages,text/segments}.ts",
  "src/channels/whatsapp/{sessions/SessionsApi,content/MessageContent,directory/Groups,directory/GroupsApi}.ts",
  "src/webhooks/{Webhooks,WebhooksApi,Recoveries,endpoint/WebhookHeaders}.ts",
  "src/email-domains/{judge,warningsOf,SpfRecord,DkimRecord,DmarcRecord,MxRecord}.ts"
]).map((path) => NodeFs.readFileSync(path, "utf8")).join("\n").replaceAll("\\\"", "'")

/** Their rules that no form can break: those of other fields, of batches, of lists, and of stored values. */
const elsewhere: ReadonlyArray<string> = [
  "has more than ${limits.values} values",
  "is not a phone number",
  "must be 'manual' or absent: only the service sets the other reasons",
  "must be a + and digits",
  "must be a channel and an id such as email/12, or an id that begins with msg_ or ver_",
  "must be a plus and digits, such as +25078811",
  "must be a whole number from ${minimum} to ${maximum}",
  "must be a whole number from 0 to ${maxOverlap}",
  "must be after from_date",
  "must be an address",
  "must be at most ${spans.most} before to_date",
  "must be base64: letters, digits, + and /, padded with =",
  "must be left out when template_id is given",
  "must be lower-case",
  "must be one emoji, or empty to remove the reaction",
  "must have at least 2 options",
  "must have at most ${maxCommonBytes} bytes; give larger values to the recipients",
  "must have at most ${maxInlineBytes / MiB} MiB, decoded; send larger files by url",
  "must have at most ${maxKeys} keys",
  "must have at most 12 options",
  "must have each option once",
  "must have either url or base64",
  "must have its domain in lower-case A-labels, without a final dot",
  "must have keys of 1 to 40 characters",
  "must make a text of at most ${maxTextLength} characters",
  "must name at least one number",
  "must name at most ${maxRecipients} recipients; send the rest in another request",
  "must not be the session's own number; leave the group on its phone",
  "must not make an empty text",
  // Parts of sentences, and a sentence that its type names.
  "must fit into ${maxSegments} segments, but takes ${parts.length}",
  "must have ${limit}",
  "must have ${oversized.limit} with its values filled in"
]

/** Errors that a person cannot meet in the console: those of keys, of HTTP, and of what has no form. */
const unmet: ReadonlySet<string> = new Set([
  "bad_request",
  "expired_api_key",
  "insufficient_scope",
  "invalid_api_key",
  "invalid_credentials",
  "invalid_json",
  "key_outlives_caller",
  "method_not_allowed",
  "missing_api_key",
  "registration_closed",
  "revoked_api_key",
  "sandbox_token_missing",
  "second_factor_required",
  "test_key_required",
  "unsupported_media_type"
])

describe("what a form says of a field", () => {
  it.effect("is a text of every language, for each mistake in each field", () =>
    Effect.gen(function*() {
      assert.isAbove(forms.length, 15)
      const found = forms.flatMap(({ action, callOf, payload }) =>
        Object.entries(action.fields).flatMap(([name, { kind }]) =>
          // A select, a radio and a hidden field have values that the page gives.
          kind === "select" || kind === "radio" || kind === "hidden"
            ? []
            : mistakes.flatMap((text) => brokenBy(payload, callOf(new URLSearchParams({ [name]: text }), ask).body))
              .filter(({ param }) => param.startsWith(name))
        )
      )
      const ofPeople = mistakes.flatMap((text) => [
        ...brokenBy(PersonChange, { name: text }),
        ...brokenBy(PasswordChange, { current_password: text, password: text, password_confirmation: text })
      ])
      const all = [
        ...new Map([...found, ...ofPeople, ...ofTemplates, ...ofVariables].map((one) => [one.message, one])).values()
      ]
      assert.isAbove(all.length, 50)
      const english = yield* spoken("en")
      const keys = shown(naming(english), all)
      assert.deepStrictEqual(all.filter((_, index) => keys[index] === "fault.other"), [])
      for (const locale of Locale.literals.filter((one) => one !== "en")) {
        const texts = shown(yield* spoken(locale), all)
        const left = shown(english, all).filter((text) => texts.includes(text))
        assert.deepStrictEqual(left, [], locale)
        assert.deepStrictEqual(texts.filter((text) => text.includes("NaN")), [], locale)
      }
    }).pipe(Effect.provide(Messages.layer)))

  it.effect("writes its numbers as the language does", () =>
    Effect.gen(function*() {
      const long = [{ param: "text", type: "too_long", message: "must have at most 65536 characters" }]
      const full = new Refused({
        status: 402,
        type: "plan_limit_exceeded",
        reason: "",
        facts: { limit: 20_000, current: 19_999 },
        faults: []
      })
      const texts = yield* Effect.forEach(["en", "de", "ar"] as const, (locale) =>
        Effect.map(spoken(locale), (t) =>
          [...shown(t, long), reasonText(t, full)].join(" ").match(/\d[\d.,]*\d/g)))
      assert.deepStrictEqual(texts, [["65,536", "19,999", "20,000"], ["65.536", "19.999", "20.000"], [
        "65,536",
        "19,999",
        "20,000"
      ]])
    }).pipe(Effect.provide(Messages.layer)))

  it("is known for each sentence in the sources of the fields' rules", () => {
    const literals = [...sources.matchAll(
      /"((?:must|has|is (?:not|a)|names) [^"\n]*)"|`((?:must|has|is|port|the (?:value|name)) [^`\n]*)`/g
    )].map(([, plain, template]) => plain ?? template ?? "")
    const unknown = literals.filter((text) => ruleOf(text.replaceAll(/\$\{[^}]*\}/g, "7")) === undefined)
    assert.deepStrictEqual([...new Set(unknown)].filter((text) => !elsewhere.includes(text)).toSorted(), [])
  })

  it("has no text for a sentence that the API does not say", () => {
    const parts = rules.flatMap(([sentence]) =>
      sentence.split(/<\w+>(?: characters| bytes)?/).map((part) => part.replace(/^: (?!it)/, ""))
        .filter((part) => part.length > 8)
    )
    assert.deepStrictEqual(
      parts.filter((part) => ![part, part.replaceAll("\"", "'")].some((one) => sources.includes(one))),
      []
    )
  })

  it("has a text of every language for each error of the API that a person can meet", () => {
    const without = knownErrors.filter(({ type }) => !Object.hasOwn(en, `error.${type}`)).map(({ type }) => type)
    assert.deepStrictEqual(without.toSorted(), [...unmet].toSorted())
  })
})
