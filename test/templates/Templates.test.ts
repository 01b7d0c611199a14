import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { PlanLimits } from "../../src/accounts/PlanLimits.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import type { PlanLimitExceeded, ValidationFailed } from "../../src/platform/http/ApiErrors.ts"
import * as Template from "../../src/templates/Template.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const welcome = { name: "Welcome", subject: "Hello {{name}}", html: "<p>Hello {{name}} in {{shop.city|town}}</p>" }

const Subject = Templates.layer.pipe(
  Layer.provide(PlanLimits.layer),
  Layer.provide(AppConfig.layer),
  Layer.provideMerge(TestDatabase.layer)
)

/** The plan's limit is not reached. */
const within = <A>(attempt: Effect.Effect<A, PlanLimitExceeded | ValidationFailed>) =>
  Effect.catchTag(attempt, "PlanLimitExceeded", Effect.die)

layer(Subject, { excludeTestServices: true })(
  "Templates",
  (it) => {
    it.effect("a template is found by id and by number, only by its account", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const [own, other] = [yield* makeAccount(), yield* makeAccount()]
        const made = yield* templates.create(own.accountId, welcome)
        assert.deepInclude(made, { ...welcome, text: null, variables: ["name", "shop.city"] })
        for (const ref of [made.id, made.numeric_id]) {
          assert.deepStrictEqual(yield* templates.find(own.accountId, ref), made)
          const { accountId } = other
          const refusals = [
            templates.find(accountId, ref),
            templates.update(accountId, ref, { name: "Theirs" }),
            templates.remove(accountId, ref)
          ]
          for (const refusal of refusals) assert.strictEqual((yield* Effect.flip(refusal))._tag, "NotFound")
        }
        assert.deepStrictEqual(yield* templates.find(own.accountId, made.id), made)
      }))

    it.effect("a send can name a template by id, number or string of digits, and by no other value", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const { accountId } = yield* makeAccount()
        const { html, id, numeric_id, subject } = yield* templates.create(accountId, welcome)
        for (const ref of [id, numeric_id, String(numeric_id)]) {
          const { source, template } = yield* templates.require(accountId, ref)
          assert.deepStrictEqual(source, { subject, html, text: null })
          // The text is derived from the HTML once, on compilation.
          assert.strictEqual(Template.render(template, { name: "Ada" }).text, "Hello Ada in town")
        }
        const nothing = ["", "abc", `${numeric_id}.0`, `0${numeric_id}`, ` ${numeric_id}`, id.toLowerCase(), `${id}0`]
        for (const ref of [...nothing, 0, -1, 0.5, 2 ** 53, numeric_id + 1_000_000, `tmpl_${"0".repeat(26)}`]) {
          const refusal = yield* Effect.flip(templates.require(accountId, ref))
          assert.deepStrictEqual([refusal._tag, refusal.param], ["NotFound", "template_id"], String(ref))
        }
      }))

    it.effect("a template with an invalid placeholder is refused under the sent field name, and the stored one does not change", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const { accountId } = yield* makeAccount()
        const made = yield* templates.create(accountId, welcome)
        const refused = [
          [{ subject: "{{" }, "subject", 1, 1],
          [{ html: "a\n b{{#if x}}" }, "html", 2, 3],
          [{ body_html: "{{a b}}" }, "body_html", 1, 1],
          [{ text: "{{}}" }, "text", 1, 1],
          [{ body_text: "\r\n{{{a}}}" }, "body_text", 2, 1]
        ] as const
        const { html, ...nameless } = welcome
        for (const [change, param, line, column] of refused) {
          const created = within(templates.create(
            accountId,
            "body_html" in change
              ? { ...nameless, ...change }
              : { ...nameless, html, ...change }
          ))
          for (const attempt of [created, templates.update(accountId, made.id, change)]) {
            const refusal = yield* Effect.flip(attempt)
            assert.deepInclude(refusal, { _tag: "ValidationFailed", param })
            assert.include(refusal.message, `${param}: line ${line}, column ${column}: `)
          }
        }
        const all = { subject: "{{", body_html: "{{1}}", text: "{{}}" }
        for (
          const attempt of [
            within(templates.create(accountId, { ...nameless, ...all })),
            templates.update(accountId, made.id, all)
          ]
        ) {
          const { errors } = yield* Effect.flip(Effect.catchTag(attempt, "NotFound", Effect.die))
          assert.deepStrictEqual(errors.map(({ param }) => param), ["subject", "body_html", "text"])
        }
        assert.deepStrictEqual(yield* templates.list(accountId, { limit: 10, offset: 0, after: null }), {
          rows: [{
            id: made.id,
            numeric_id: made.numeric_id,
            name: made.name,
            subject: made.subject,
            variables: made.variables,
            created_at: made.created_at,
            updated_at: made.created_at
          }],
          total: 1
        })
      }))

    it.effect("concurrent changes of different fields of a template all take effect", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const { accountId } = yield* makeAccount()
        for (let round = 0; round < 20; round++) {
          const { id } = yield* templates.create(accountId, welcome)
          yield* Effect.all([
            templates.update(accountId, id, { subject: "{{a}}" }),
            templates.update(accountId, id, { html: "{{b}}" }),
            templates.update(accountId, id, { text: "{{c}}" }),
            templates.update(accountId, id, { name: "Renamed" })
          ], { concurrency: "unbounded" })
          assert.deepInclude(yield* templates.find(accountId, id), {
            name: "Renamed",
            subject: "{{a}}",
            html: "{{b}}",
            text: "{{c}}",
            variables: ["a", "b", "c"]
          })
        }
      }))

    it.effect("a send reads a template as a whole, never parts of two versions", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const { accountId } = yield* makeAccount()
        const version = (number: number) => ({ subject: `v${number}`, html: `v${number}`, text: `v${number}` })
        const { id } = yield* templates.create(accountId, { name: "Versions", ...version(0) })
        const read = Effect.map(templates.require(accountId, id), ({ source }) => source)
        const seen = [yield* read]
        const updating = yield* Effect.forkChild(Effect.forEach(
          Array.from({ length: 50 }, (_, index) => index + 1),
          (index) => templates.update(accountId, id, version(index)),
          { concurrency: 5 }
        ))
        const readMeanwhile = Effect.repeat(
          Effect.tap(read, (source) => Effect.sync(() => void seen.push(source))),
          { until: () => updating.pollUnsafe() !== undefined }
        )
        yield* Effect.all(Array.from({ length: 5 }, () => readMeanwhile), { concurrency: "unbounded" })
        yield* Fiber.join(updating)
        seen.push(yield* read)
        for (const { html, subject, text } of seen) assert.deepStrictEqual([html, text], [subject, subject])
      }))

    it.effect("templates are deleted with their account", () =>
      Effect.gen(function*() {
        const templates = yield* Templates
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        yield* templates.create(accountId, welcome)
        yield* sql`delete from accounts where id = ${accountId}`
        assert.deepStrictEqual(yield* templates.list(accountId, { limit: 10, offset: 0, after: null }), {
          rows: [],
          total: 0
        })
      }))
  }
)
