/** What the pages of templates and their versions say, drawn without a server. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Messages } from "../../src/console/language/Messages.ts"
import { Refused } from "../../src/console/page/Action.ts"
import type { AccountAsk, Attempt } from "../../src/console/page/Ask.ts"
import type { AccountPage } from "../../src/console/page/Page.ts"
import { attemptOf } from "../../src/console/page/refusals.ts"
import { templatesPages } from "../../src/console/pages/email/TemplatesPages.ts"
import { templateVersionsPages } from "../../src/console/pages/email/TemplateVersionsPages.ts"
import { OwnCalls } from "../../src/platform/calls/OwnCalls.ts"
import type { EmailTemplate, EmailTemplateVersion } from "../../src/templates/EmailTemplate.ts"
import { Templates } from "../../src/templates/Templates.ts"
import { TemplateId, TemplateNumber, TemplateVersionId } from "../../src/values/Ids.ts"
import { allows, type Role } from "../../src/values/Permission.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

const id = TemplateId.make("tmpl_01ARZ3NDEKTSV4RRFFQ69G5FAV")
const at = Timestamp.make("2026-05-03T22:30:00.000000Z")

const template: EmailTemplate = {
  id,
  numeric_id: TemplateNumber.make(3),
  name: "Receipt",
  subject: "Dear {{name}}",
  html: "<p>Now {{order.id}}</p><img src=\"logo.png\"><a href=\"https://example.com/{{order.id}}\">Your order</a>",
  text: null,
  variables: ["name", "order.id"],
  created_at: at,
  updated_at: at
}

const version: EmailTemplateVersion = {
  id: TemplateVersionId.make(7),
  created_at: at,
  subject: "Hello {{name}}",
  html: "<!doctype html><p>Before {{name}}</p>",
  text: "Before"
}

/** Drawing a page sends no form. */
const services = (versions: ReadonlyArray<EmailTemplateVersion>) =>
  Layer.merge(
    Layer.mock(OwnCalls)({}),
    Layer.mock(Templates)({
      find: () => Effect.succeed(template),
      versions: () => Effect.succeed(versions),
      version: () => Effect.succeed(versions[0] ?? version)
    })
  )

const [, make, one] = templatesPages
const [list, oneVersion, frame] = templateVersionsPages

interface Reader {
  readonly role?: Role
  readonly query?: string
  /** What was typed into a form, and whether it was sent for its preview, or with what it was refused. */
  readonly attempt?: Partial<Attempt>
  readonly versions?: ReadonlyArray<EmailTemplateVersion>
}

/** What a person reads on a page: the title, the buttons and the content, or the document of a frame. */
const drawn = <R>(page: AccountPage<R>, { attempt, query = "", role = "owner", versions = [version] }: Reader = {}) =>
  Effect.gen(function*() {
    const t = yield* Effect.flatMap(Messages, (messages) => messages.in("en"))
    // The pages read no more of a person and an account than this.
    const ask = {
      t,
      timezone: "Africa/Kigali",
      hourCycle: "h23",
      params: { id, version: "7" },
      query: new URLSearchParams(query),
      path: `/console/7/templates/${id}/versions/7`,
      attempt,
      isUpdate: false,
      since: undefined,
      seal: () => ({ token: "token", once: "once" }),
      signedIn: { person: { email: "ada@people.example" } },
      account: { id: 7 },
      accountId: 7,
      to: (path: string) => `/console/7${path}`,
      can: (permission: Parameters<typeof allows>[1]) => allows(role, permission)
    } as unknown as AccountAsk
    const { buttons, content, frame, title } = yield* Effect.provide(page.show(ask), services(versions))
    return frame ?? `${title}\n${buttons === undefined || buttons === false ? "" : buttons.markup}${content.markup}`
  })

it.layer(Messages.layer)("the pages of templates", (it) => {
  it.effect("a test goes to the signed-in person, with the values that they try", () =>
    Effect.gen(function*() {
      const markup = yield* drawn(one, { query: "v.name=Ada" })
      assert.include(markup, `action="/console/7/send?channel=email&amp;template=${id}"`)
      assert.include(markup, "name=\"to\" value=\"ada@people.example\"")
      assert.include(markup, "name=\"variables\" value=\"name = Ada\norder.id = \"")
      assert.include(markup, `name="template_id" value="${id}"`)
    }))

  it.effect("a duplicate begins with the same texts and another name, and a new template with none", () =>
    Effect.gen(function*() {
      const markup = yield* drawn(make, { query: `copy=${id}` })
      assert.include(markup, "value=\"Copy of Receipt\"")
      assert.include(markup, "value=\"Dear {{name}}\"")
      assert.include(markup, "&lt;p&gt;Now {{order.id}}&lt;/p&gt;")
      assert.notInclude(yield* drawn(make), "Receipt")
      assert.deepInclude(yield* Effect.flip(drawn(make, { query: "copy=nothing" })), { _tag: "NotFound" })
    }))

  it.effect("versions are listed by the time until which they were the texts", () =>
    Effect.gen(function*() {
      const markup = yield* drawn(list)
      assert.match(markup, /versions\/7"><time datetime="2026-05-03T22:30:00.000000Z"[^>]*>May 4, 2026, 00:30</)
      assert.include(markup, "Hello {{name}}")
      assert.include(yield* drawn(list, { versions: [] }), "No versions yet")
    }))

  it.effect("a version shows its own texts in the locked frame, with the values of the address", () =>
    Effect.gen(function*() {
      const markup = yield* drawn(oneVersion, { query: "v.name=Ada" })
      assert.match(markup, /<iframe class="mail wide" sandbox [^>]*src="[^"]*\/versions\/7\/frame\?v\.name=Ada"/)
      assert.include(markup, "Hello Ada")
      assert.notInclude(markup, "Dear")
      assert.include(yield* drawn(oneVersion, { query: "view=plain" }), "Before")
      assert.strictEqual(
        yield* drawn(frame, { query: "v.name=<b>" }),
        "<!doctype html><meta charset=\"utf-8\"><p>Before &lt;b&gt;</p>"
      )
    }))

  it.effect("values that would make a huge mail are not filled in, and a note says so", () =>
    Effect.gen(function*() {
      const versions = [{ ...version, html: "<p>{{name}}</p>".repeat(900) }]
      const huge = `v.name=${"'".repeat(15_000)}`
      const source = yield* drawn(oneVersion, { query: `view=source&${huge}`, versions })
      assert.isBelow(source.length, 300_000)
      assert.include(source, "With these values the mail is too large to show")
      assert.include(source, "&lt;p&gt;{{name}}&lt;/p&gt;")
      assert.isBelow((yield* drawn(frame, { query: huge, versions })).length, 20_000)
      const small = yield* drawn(oneVersion, { query: "view=source&v.name=Ada", versions })
      assert.include(small, "&lt;p&gt;Ada&lt;/p&gt;")
      assert.notInclude(small, "too large to show")
    }))

  it.effect("images without an alternative text and all links are listed, with the values of the address", () =>
    Effect.gen(function*() {
      const markup = yield* drawn(one, { query: "v.order.id=A-17" })
      assert.include(markup, "1 image has no alternative text.")
      assert.match(markup, /<li><code dir="ltr">logo.png<\/code><\/li>/)
      assert.match(markup, /<bdi>Your order<\/bdi>.*<code dir="ltr">https:\/\/example.com\/A-17<\/code>/s)
      const before = yield* drawn(oneVersion)
      assert.include(before, "This mail has no links.")
      assert.notInclude(before, "alternative text")
    }))

  it.effect("the source has the values, and the frame for dark mode is locked too", () =>
    Effect.gen(function*() {
      const source = yield* drawn(oneVersion, { query: "view=source&v.name=Ada" })
      assert.match(
        source,
        /<pre class="mail-text"[^>]*><code dir="ltr">&lt;!doctype html&gt;&lt;p&gt;Before Ada&lt;\/p&gt;</
      )
      assert.match(yield* drawn(oneVersion, { query: "view=dark" }), /<iframe class="mail dark" sandbox /)
    }))

  it.effect("the preview of a form is what is typed, or why it is no template", () =>
    Effect.gen(function*() {
      const [, , , , edit] = templatesPages
      for (const page of [make, edit]) {
        const typed = (html: string) => new URLSearchParams({ subject: "Hi", html, _instead: "draft" })
        const whole = yield* drawn(page, { attempt: { form: typed("<b>Dear {{name}}</b>"), faults: [] } })
        assert.strictEqual(whole, "<meta charset=\"utf-8\"><b>Dear {{name}}</b>")
        const empty = yield* drawn(page, { query: "draft" })
        assert.strictEqual(empty, "<meta charset=\"utf-8\"><p lang=\"en\" dir=\"ltr\">The preview appears here.</p>")
        const broken = yield* drawn(page, { attempt: { form: typed("<b>\nDear {{name</b>"), faults: [] } })
        assert.match(broken, /<p lang="en" dir="ltr">HTML: Line 2, column 6: double braces are not closed\./)
        assert.match(
          yield* drawn(page),
          /<button class="quiet" name="_instead" value="draft" formnovalidate formtarget="draft"/
        )
      }
    }))

  it.effect("a refused form marks what is wrong in the line that has it", () =>
    Effect.gen(function*() {
      const attempt = attemptOf(
        yield* Effect.flatMap(Messages, (messages) => messages.in("en")),
        {
          action: make.actions[0] ?? assert.fail(),
          form: new URLSearchParams({ html: "<p>\r\nDear {{a b}}, <b>you</b>" })
        },
        new Refused({
          status: 422,
          type: "validation_error",
          reason: "",
          facts: {},
          faults: [{
            param: "html",
            type: "invalid_template",
            message: "line 2, column 6: {{a b}} is not a placeholder: use {{ name }}"
          }]
        })
      )
      assert.include(
        yield* drawn(make, { attempt }),
        "<pre class=\"excerpt\" dir=\"ltr\"><code>2 | Dear <mark>{{a b}}</mark>, &lt;b&gt;you&lt;/b&gt;</code></pre>"
      )
    }))

  it.effect("a reader who may not change templates sees the versions and no button that changes or sends", () =>
    Effect.gen(function*() {
      const page = yield* drawn(one, { role: "support" })
      assert.include(page, "/versions")
      assert.notInclude(page, "method=\"post\"")
      assert.notInclude(page, "copy=")
      const markup = yield* drawn(oneVersion, { role: "support" })
      assert.include(markup, "<iframe")
      assert.notInclude(markup, "<form")
      assert.include(yield* drawn(oneVersion), "value=\"restore\"")
    }))
})
