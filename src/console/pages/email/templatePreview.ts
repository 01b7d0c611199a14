import { Result } from "effect"
import { html } from "../../../platform/http/html.ts"
import type { StoredTexts } from "../../../templates/CompiledTemplate.ts"
import * as Template from "../../../templates/Template.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { foreign, number } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"

/** Parameters of the address that hold a value to try. */
const prefix = "v."

/** The value of the address for a name; empty without one. */
const valueOf = ({ query }: AccountAsk, name: string) => query.get(`${prefix}${name}`) ?? ""

/** The values of the address, as the form of a send takes them. */
export const valueLines = (ask: AccountAsk, variables: ReadonlyArray<string>): string =>
  variables.map((name) => `${name} = ${valueOf(ask, name)}`).join("\n")

/** The texts with the values of the address. A place without one shows its name. */
const filledIn = (ask: AccountAsk, { html: markup, subject, text }: StoredTexts) =>
  Result.match(Template.compile({ subject, html: markup, text }), {
    onSuccess: (compiled) => {
      const values: Record<string, unknown> = {}
      for (const name of compiled.names) {
        const [first = "", second] = name.split(".", 2)
        const value = valueOf(ask, name) || `{{${name}}}`
        const inner = values[first]
        values[first] = second === undefined ? value : { ...(typeof inner === "object" && inner), [second]: value }
      }
      return Template.render(compiled, values)
    },
    // Stored texts were compiled before they were stored.
    onFailure: () => ({ subject, html: markup, text: text ?? undefined })
  })

const views = ["wide", "phone", "plain"] as const
type View = (typeof views)[number]

const viewIn = ({ query }: AccountAsk): View => views.find((view) => view === query.get("view")) ?? "wide"

/** From this size on, large providers cut a mail. */
const cutAt = 102 * 1024

const viewTabs = (ask: AccountAsk) => {
  const { path, query, t } = ask
  return tabs(
    t.text("templates.preview.views"),
    views.map((view) => {
      const next = new URLSearchParams(query)
      next.set("view", view)
      return {
        label: t.text(`templates.preview.${view}`),
        href: `${path}?${next}`,
        isCurrent: view === viewIn(ask)
      }
    })
  )
}

/** The texts as a reader sees them. The page below this one, `frame`, has the markup. */
export const preview = (ask: AccountAsk, texts: StoredTexts) => {
  const { path, query, t } = ask
  const { html: markup = "", subject, text = "" } = filledIn(ask, texts)
  const view = viewIn(ask)
  const bytes = Buffer.byteLength(markup)
  const size = number(ask, Math.max(1, Math.round(bytes / 1024)))
  const values = new URLSearchParams([...query].filter(([name]) => name.startsWith(prefix)))
  return html`${viewTabs(ask)}
<p class="subject"><span class="quiet">${t.text("templates.subject")}:</span> ${foreign(subject)}</p>
${
    view === "plain"
      ? html`<pre class="mail-text" tabindex="0" role="group" aria-label="${t.text("templates.preview.plain")}">${
        foreign(text)
      }</pre>`
      : html`<iframe class="mail ${view}" sandbox title="${
        t.text("templates.preview.frame")
      }" src="${path}/frame?${values.toString()}"></iframe>`
  }
<p class="hint">${
    bytes > cutAt ? t.text("templates.preview.large", { size }) : t.text("templates.preview.size", { size })
  }</p>`
}

/** Most values that the page offers to try. */
const mostValues = 30

/** The form of the values to try. */
export const valuesForm = (ask: AccountAsk, variables: ReadonlyArray<string>) => {
  const { path, t } = ask
  return html`<form method="get" action="${path}" class="form"><input type="hidden" name="view" value="${
    viewIn(ask)
  }">${
    variables.slice(0, mostValues).map((name) =>
      html`<div class="field"><label for="value-${name}"><code>${name}</code></label><input id="value-${name}" name="${prefix}${name}" value="${
        valueOf(ask, name)
      }"></div>`
    )
  }<div class="buttons"><button>${t.text("templates.preview.apply")}</button></div></form>`
}

const doctype = /^\s*<!doctype[^>]{0,300}>/i

/** The mail's own markup, for the frame of a preview. What it may do, the headers of frames say. */
export const frameOf = (ask: AccountAsk, texts: StoredTexts): string => {
  const { html: markup = "" } = filledIn(ask, texts)
  const [head = ""] = doctype.exec(markup) ?? []
  return `${head}<meta charset="utf-8">${markup.slice(head.length)}`
}
