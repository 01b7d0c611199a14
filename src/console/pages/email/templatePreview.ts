import { Result } from "effect"
import { html } from "../../../platform/http/html.ts"
import type { StoredTexts } from "../../../templates/CompiledTemplate.ts"
import * as Template from "../../../templates/Template.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { frameOf, mailOf, viewIn } from "../../ui/mail.ts"

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

/** The texts as a reader sees them. The page below this one, `frame`, has the markup. */
export const preview = (ask: AccountAsk, texts: StoredTexts) => {
  const { html: markup = "", subject, text = "" } = filledIn(ask, texts)
  const values = new URLSearchParams([...ask.query].filter(([name]) => name.startsWith(prefix)))
  return mailOf(ask, { subject, html: markup, text }, `${ask.path}/frame?${values.toString()}`)
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

/** The markup of the texts, for the frame of a preview. */
export const frameWith = (ask: AccountAsk, texts: StoredTexts): string => frameOf(filledIn(ask, texts).html ?? "")
