import { Result } from "effect"
import { measure } from "../../../channels/email/request/MailFields.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import type { StoredTexts } from "../../../templates/CompiledTemplate.ts"
import * as Template from "../../../templates/Template.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { sentenceOf } from "../../page/refusals.ts"
import { frameOf, mailOf, viewIn } from "../../ui/mail.ts"
import { card, code, foreign, note } from "../../ui/parts.ts"
import { table } from "../../ui/table.ts"
import { mailParts } from "./mailParts.ts"

/** Parameters of the address that hold a value to try. */
const prefix = "v."

/** The value of the address for a name; empty without one. */
const valueOf = ({ query }: AccountAsk, name: string) => query.get(`${prefix}${name}`) ?? ""

/** The values of the address, as the form of a send takes them. */
export const valueLines = (ask: AccountAsk, variables: ReadonlyArray<string>): string =>
  variables.map((name) => `${name} = ${valueOf(ask, name)}`).join("\n")

/** A value in many places makes large texts of a short address. */
const mostBytes = 4 * 1024 * 1024

/** A value for each name. A place without one shows its name. */
const filledBy = (names: ReadonlyArray<string>, valueOf: (name: string) => string) => {
  const values: Record<string, unknown> = {}
  for (const name of names) {
    const [first = "", second] = name.split(".", 2)
    const value = valueOf(name) || `{{${name}}}`
    const inner = values[first]
    values[first] = second === undefined ? value : { ...(typeof inner === "object" && inner), [second]: value }
  }
  return values
}

/** A template with the values of the address, unless these make too much of it. */
const rendered = (ask: AccountAsk, compiled: Template.Template) => {
  const { names } = compiled
  const values = filledBy(names, (name) => valueOf(ask, name))
  const isTooLarge = measure(compiled)(values).bytes > mostBytes
  return { ...Template.render(compiled, isTooLarge ? filledBy(names, () => "") : values), isTooLarge }
}

const filledIn = (ask: AccountAsk, { html: markup, subject, text }: StoredTexts) =>
  Result.match(Template.compile({ subject, html: markup, text }), {
    onSuccess: (compiled) => rendered(ask, compiled),
    // Stored texts were compiled before they were stored.
    onFailure: () => ({ subject, html: markup, text: text ?? undefined, isTooLarge: false })
  })

/** The texts as a reader sees them. The page below this one, `frame`, has the markup. */
export const preview = (ask: AccountAsk, texts: StoredTexts) => {
  const { html: markup = "", isTooLarge, subject, text = "" } = filledIn(ask, texts)
  const values = new URLSearchParams([...ask.query].filter(([name]) => name.startsWith(prefix)))
  return html`${isTooLarge && note(ask.t.text("templates.preview.tooLarge"), "warn")}${
    mailOf(ask, { subject, html: markup, text }, `${ask.path}/frame?${values.toString()}`)
  }`
}

/** Most values that the page offers to try. */
const mostValues = 30

/** The form of the values to try. */
export const valuesForm = (ask: AccountAsk, variables: ReadonlyArray<string>) => {
  const { path, t } = ask
  return html`<form method="get" action="${path}" class="form"><input type="hidden" name="view" value="${
    viewIn(ask, { html: "" })
  }">${
    variables.slice(0, mostValues).map((name) =>
      html`<div class="field"><label for="value-${name}"><code>${name}</code></label><input id="value-${name}" name="${prefix}${name}" value="${
        valueOf(ask, name)
      }"></div>`
    )
  }<div class="buttons"><button>${t.text("templates.preview.apply")}</button></div></form>`
}

/** Most links and images that the page lists. */
const mostParts = 100

/** What some readers miss: images without an alternative text. And where the links lead. */
export const imagesAndLinks = (ask: AccountAsk, texts: StoredTexts): Html => {
  const { t } = ask
  const { images, links, withoutAlt } = mailParts(filledIn(ask, texts).html ?? "")
  return card(
    t.text("templates.parts"),
    html`${
      withoutAlt.length > 0
        ? html`${note(t.text("templates.parts.withoutAlt", { count: withoutAlt.length }), "warn")}<ul class="points">${
          withoutAlt.slice(0, mostParts).map((address) => html`<li>${code(address)}</li>`)
        }</ul>`
        : images > 0 && note(t.text("templates.parts.good"), "good")
    }${
      links.length === 0
        ? html`<p class="quiet">${t.text("templates.parts.noLinks")}</p>`
        : table(t.text("templates.parts.links"), [
          { label: t.text("templates.parts.words"), cell: ({ text }) => foreign(text) },
          { label: t.text("templates.parts.address"), cell: ({ href }) => code(href) }
        ], links.slice(0, mostParts))
    }`,
    "parts"
  )
}

/** What the frame of a draft shows of a form: the mail as it is typed, or a sentence about the fault in it. */
export const draftFrame = (ask: AccountAsk, { html: markup = "", subject = "" }: Readonly<Record<string, string>>) => {
  const { t } = ask
  const said = (sentence: string) => html`<p lang="${t.locale}" dir="${t.direction}">${sentence}</p>`
  if (markup === "") return frameOf(said(t.text("templates.preview.draft")).markup)
  return Result.match(Template.compile({ subject, html: markup }), {
    onSuccess: (compiled) => frameOf(rendered(ask, compiled).html ?? ""),
    onFailure: (faults) =>
      frameOf(
        html`${
          faults.map(({ message, part }) =>
            said(`${t.text(`templates.${part}`)}: ${sentenceOf(t, { param: part, type: "invalid_template", message })}`)
          )
        }`.markup
      )
  })
}

/** The markup of the texts, for the frame of a preview. */
export const frameWith = (ask: AccountAsk, texts: StoredTexts): string => frameOf(filledIn(ask, texts).html ?? "")
