import { Context, Effect, Layer, Option, Schema } from "effect"
import { PlanLimits } from "../accounts/PlanLimits.ts"
import { ulid } from "../platform/crypto/ids.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, type PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { deprecated } from "../platform/http/RequestContext.ts"
import {
  type AccountId,
  TemplateId,
  TemplateNumber,
  templatePathId,
  type TemplateRef,
  type TemplateVersionId
} from "../values/Ids.ts"
import type { PageOf, Window } from "../values/Page.ts"
import { Plan } from "../values/Plan.ts"
import { compiled, type CompiledTemplate, type StoredTexts, variablesOf } from "./CompiledTemplate.ts"
import type {
  EmailTemplate,
  EmailTemplateSummary,
  EmailTemplateVersion,
  EmailTemplateVersionSummary
} from "./EmailTemplate.ts"
import type { TemplatePartName } from "./TemplatePart.ts"
import type { NewTemplate, TemplateChange } from "./TemplatesApi.ts"
import { TemplatesRepo } from "./TemplatesRepo.ts"

/** The texts of a request, by either of their names. A null text is derived from the HTML. */
export interface TextInput {
  readonly html?: string
  readonly body_html?: string
  readonly text?: string | null
  readonly body_text?: string | null
}

/**
 * The texts of a request, and the names under which they came, for refusals. `html` and `text` take precedence over
 * `body_html` and `body_text`.
 */
export const templateTexts = ({ body_html, body_text, html, text }: TextInput) => ({
  html: html ?? body_html,
  text: text === undefined ? body_text : text,
  paramOf: {
    subject: "subject",
    html: html === undefined && body_html !== undefined ? "body_html" : "html",
    text: text === undefined && body_text !== undefined ? "body_text" : "text"
  } satisfies Record<TemplatePartName, string>
})

/** Since 21 November 2026 `tmpl_` ids replace numeric ones (spec 9). */
const numericIdsDeprecated = 1_795_219_200

/** JSON clients write a numeric id as a number or as a string of digits. */
const readRef = Schema.decodeUnknownOption(Schema.Union([TemplateNumber, templatePathId]))

/** The templates of an account (spec 2.9). Uses of a numeric id are answered with `Deprecation`. */
export class Templates extends Context.Service<Templates, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    window: Window
  ) => Effect.Effect<PageOf<EmailTemplateSummary>>
  readonly find: (accountId: AccountId, ref: TemplateRef) => Effect.Effect<EmailTemplate, NotFound>
  /** Within the plan's limit. */
  readonly create: (
    accountId: AccountId,
    template: NewTemplate
  ) => Effect.Effect<EmailTemplate, ValidationFailed | PlanLimitExceeded>
  /** Concurrent changes of different fields all take effect. The texts that a change replaces become a version. */
  readonly update: (
    accountId: AccountId,
    ref: TemplateRef,
    change: TemplateChange
  ) => Effect.Effect<EmailTemplate, NotFound | ValidationFailed>
  /** The last 20, newest first. */
  readonly versions: (
    accountId: AccountId,
    ref: TemplateRef
  ) => Effect.Effect<ReadonlyArray<EmailTemplateVersionSummary>, NotFound>
  readonly version: (
    accountId: AccountId,
    ref: TemplateRef,
    versionId: TemplateVersionId
  ) => Effect.Effect<EmailTemplateVersion, NotFound>
  /** Gives the template the texts of a version. Its texts until then become a version. */
  readonly restore: (
    accountId: AccountId,
    ref: TemplateRef,
    versionId: TemplateVersionId
  ) => Effect.Effect<EmailTemplate, NotFound>
  readonly remove: (accountId: AccountId, ref: TemplateRef) => Effect.Effect<void, NotFound>
  /** The current template for a send with `template_id`. Senders keep a copy of its source. */
  readonly require: (
    accountId: AccountId,
    templateId: string | number
  ) => Effect.Effect<CompiledTemplate & { readonly id: TemplateId }, NotFound>
}>()("messaging-service/templates/Templates") {
  static readonly layer = Layer.effect(
    Templates,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const limits = yield* PlanLimits
      const repo = yield* TemplatesRepo

      const announce = (ref: TemplateRef) => typeof ref === "number" ? deprecated(numericIdsDeprecated) : Effect.void

      const find = Effect.fn("Templates.find")(function*(accountId: AccountId, ref: TemplateRef) {
        yield* announce(ref)
        const row = yield* repo.find({ accountId, ref })
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const create = Effect.fn("Templates.create")(function*(accountId: AccountId, input: NewTemplate) {
        const { html, paramOf, text = null } = templateTexts(input)
        if (html === undefined) return yield* ValidationFailed.of("html", "is required", "missing")
        const read = yield* compiled({ subject: input.subject, html, text }, paramOf)
        const variables = yield* variablesOf(read.template)
        const id = TemplateId.make(`tmpl_${yield* ulid}`)
        const row = { id, accountId, name: input.name, ...read.source, variables }
        const inserted = yield* repo.insert({ ...row, plans: limits.unlimited("templates") })
        if (Option.isSome(inserted)) return inserted.value
        const count = Effect.map(repo.count(accountId), ({ total }) => total)
        return yield* transaction(Effect.gen(function*() {
          yield* limits.requireCapacity(accountId, "templates", count)
          return yield* Effect.orDie(Effect.fromOption(yield* repo.insert({ ...row, plans: Plan.literals })))
        }))
      })

      const lock = Effect.fnUntraced(function*(accountId: AccountId, ref: TemplateRef) {
        const row = yield* repo.lock({ accountId, ref })
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      /** Requires a locked row and texts that compile. */
      const replace = Effect.fnUntraced(function*(
        accountId: AccountId,
        { html, id, subject, text }: EmailTemplate,
        { name, ...next }: StoredTexts & { readonly name: string }
      ) {
        const { source, template } = yield* Effect.orDie(compiled(next))
        const variables = yield* variablesOf(template)
        if (source.subject !== subject || source.html !== html || source.text !== text) {
          yield* repo.keep({ accountId, templateId: id })
        }
        return yield* repo.update({ id, name, ...source, variables })
      })

      const update = Effect.fn("Templates.update")(
        function*(accountId: AccountId, ref: TemplateRef, change: TemplateChange) {
          yield* announce(ref)
          const { html, paramOf, text } = templateTexts(change)
          yield* compiled({ subject: change.subject ?? "", html: html ?? "", text: text ?? null }, paramOf)
          return yield* transaction(Effect.gen(function*() {
            const before = yield* lock(accountId, ref)
            return yield* replace(accountId, before, {
              name: change.name ?? before.name,
              subject: change.subject ?? before.subject,
              html: html ?? before.html,
              text: text === undefined ? before.text : text
            })
          }))
        }
      )

      const versions = Effect.fn("Templates.versions")(function*(accountId: AccountId, ref: TemplateRef) {
        const { id } = yield* find(accountId, ref)
        return yield* repo.versions({ accountId, templateId: id })
      })

      const versionOf = Effect.fnUntraced(
        function*(accountId: AccountId, templateId: TemplateId, versionId: TemplateVersionId) {
          const row = yield* repo.findVersion({ accountId, templateId, versionId })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }
      )

      const version = Effect.fn("Templates.version")(
        function*(accountId: AccountId, ref: TemplateRef, versionId: TemplateVersionId) {
          const { id } = yield* find(accountId, ref)
          return yield* versionOf(accountId, id, versionId)
        }
      )

      const restore = Effect.fn("Templates.restore")(
        function*(accountId: AccountId, ref: TemplateRef, versionId: TemplateVersionId) {
          yield* announce(ref)
          return yield* transaction(Effect.gen(function*() {
            const before = yield* lock(accountId, ref)
            const { html, subject, text } = yield* versionOf(accountId, before.id, versionId)
            const next = { name: before.name, subject, html, text }
            // These texts were within the limits when they were stored.
            return yield* Effect.catchTag(replace(accountId, before, next), "ValidationFailed", Effect.die)
          }))
        }
      )

      const require = Effect.fn("Templates.require")(function*(accountId: AccountId, templateId: string | number) {
        const unknown = () => new NotFound({ param: "template_id" })
        const ref = yield* Effect.mapError(Effect.fromOption(readRef(templateId)), unknown)
        const { html, id, subject, text } = yield* Effect.mapError(find(accountId, ref), unknown)
        // The template compiled when it was stored.
        return { id, ...(yield* Effect.orDie(compiled({ subject, html, text }))) }
      })

      return Templates.of({
        find,
        create,
        update,
        versions,
        version,
        restore,
        require,
        list: Effect.fn("Templates.list")((accountId, window) =>
          Query.windowOf({ count: () => repo.count(accountId), list: repo.list }, { accountId, ...window })
        ),
        remove: Effect.fn("Templates.remove")(function*(accountId, ref) {
          yield* announce(ref)
          const gone = yield* repo.remove({ accountId, ref })
          if (Option.isNone(gone)) return yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(TemplatesRepo.layer))
}
