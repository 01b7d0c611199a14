import { Html, html, type HtmlValue } from "../../platform/http/html.ts"
import { marked } from "../language/Messages.ts"
import { type Action, onceField } from "../page/Action.ts"
import { type Ask, type Attempt, type FieldFault, isOfPerson, type TextPlace, withQuery } from "../page/Ask.ts"
import { Field, type Option } from "../page/Field.ts"
import { copyable, countdown, curlOf, foreign, icon } from "./parts.ts"

/** Names of the hidden fields of every form. */
export const actionField = "_action"
export const tokenField = "_token"

/** The name of the buttons that ask for something in the place of sending a form. Their value says for what. */
export const insteadField = "_instead"

/** The same request with curl, what the form would do, or what is typed in a locked frame. */
type Instead = "command" | "preview" | "draft"

/** Whether a person asked for it in the place of sending the form. A refused form shows none of them. */
export const asksFor = (attempt: Attempt | undefined, what: Instead): attempt is Attempt =>
  attempt !== undefined && attempt.message === undefined && attempt.form.get(insteadField) === what

/** Whether the frame of a draft asks the page for what is typed, or for what stands there before. */
export const isDraft = ({ attempt, query }: Ask): boolean =>
  attempt === undefined ? query.has("draft") : asksFor(attempt, "draft")

/** Names of the fields of a fresh proof. */
export const passwordField = "_password"
export const codeField = "_code"

const proofFields = {
  password: Field.password({ label: "signIn.password", autocomplete: "current-password" }),
  code: Field.text({ label: "code.label", hint: "code.hint", autocomplete: "one-time-code", isMono: true })
}

interface Drawn {
  readonly ask: Ask
  readonly name: string
  readonly field: Field<unknown>
  /** The values that the person has sent before, or those that the page gives. */
  readonly values: ReadonlyArray<string>
  readonly fault: FieldFault | undefined
  readonly id: string
  readonly options: ReadonlyArray<Option>
  /** The browser checks the form. It must not refuse an empty field, because its words are not the reader's. */
  readonly isChecked?: boolean
}

const requirement = ({ field: { isRequired, kind }, isChecked = false }: Drawn) =>
  isRequired && new Html(isChecked && kind !== "time" ? " aria-required=\"true\"" : " required")

const attributes = (drawn: Drawn): Html => {
  const { fault, field, id, name } = drawn
  const describedBy = [field.hint !== undefined && `${id}-hint`, fault !== undefined && `${id}-fault`].filter(Boolean)
  return html` id="${id}" name="${name}"${requirement(drawn)}${
    fault !== undefined && new Html(" aria-invalid=\"true\"")
  }${describedBy.length > 0 && html` aria-describedby="${describedBy.join(" ")}"`}${
    field.autocomplete !== undefined && html` autocomplete="${field.autocomplete}"`
  }${field.guess !== undefined && html` data-guess="${field.guess}"`}${
    field.isMono === true && new Html(" class=\"mono\" dir=\"ltr\" spellcheck=\"false\"")
  }`
}

const isChosen = (values: ReadonlyArray<string>, value: string, attribute: string) =>
  values.includes(value) && new Html(` ${attribute}`)

const control = (drawn: Drawn): Html => {
  const { field, options, values: [value = ""], values } = drawn
  switch (field.kind) {
    case "textarea":
      return html`<textarea${attributes(drawn)} rows="6">\n${value}</textarea>`
    case "select":
      return html`<select${attributes(drawn)}>${
        options.map((option) =>
          html`<option value="${option.value}"${isChosen(values, option.value, "selected")}>${
            marked(option.label)
          }</option>`
        )
      }</select>`
    default:
      // A password that was refused is typed once more.
      return html`<input${
        field.kind === "time" ? html` type="datetime-local" step="any"` : html` type="${field.kind}"`
      }${attributes(drawn)}${field.kind !== "password" && html` value="${value}"`}>`
  }
}

const labelText = ({ ask: { t }, field }: Drawn): Html =>
  html`${field.label !== undefined && t.named(field.label)}${
    !field.isRequired && field.kind !== "flag" && html` <span class="optional">(${t.text("common.optional")})</span>`
  }`

/** Most characters that an excerpt has before its place and after it. */
const longestExcerpt = 60

/** The line of a text that has a fault, with its number. What is wrong is marked: as far as the braces close, or to its end. */
const excerpt = (text: string, { column, line }: TextPlace): Html => {
  const found = text.split(/\r\n|\r|\n/)[line - 1] ?? ""
  const start = column - 1
  const close = found.indexOf("}}", start)
  const end = Math.min(close < 0 ? found.length : close + 2, start + longestExcerpt)
  return html`<pre class="excerpt" dir="ltr"><code>${line} | ${
    marked(found.slice(Math.max(0, start - longestExcerpt), start))
  }<mark>${marked(found.slice(start, end))}</mark>${marked(found.slice(end, end + longestExcerpt))}</code></pre>`
}

const below = ({ ask: { t }, fault, field, id, values: [value = ""] }: Drawn): Html =>
  html`${field.hint !== undefined && html`<p class="hint" id="${id}-hint">${t.named(field.hint)}</p>`}${
    fault !== undefined &&
    html`<p class="fault" id="${id}-fault">${icon("circle-alert")}<span>${fault.message}</span></p>${
      fault.place !== undefined && excerpt(value, fault.place)
    }`
  }`

const choices = (drawn: Drawn): Html => {
  const { fault, field, id, name, options, values } = drawn
  const type = field.kind === "radio" ? "radio" : "checkbox"
  return html`<fieldset class="field choices" id="${id}"${
    fault !== undefined && html` aria-describedby="${id}-fault"`
  }><legend>${labelText(drawn)}</legend>${
    options.map(({ hint, label, value }) =>
      html`<label class="choice"><input type="${type}" name="${name}" value="${value}"${
        isChosen(values, value, "checked")
      }${type === "radio" && field.isRequired && new Html(" required")}><span><span class="name">${
        foreign(label)
      }</span>${hint !== undefined && html`<span class="hint">${hint}</span>`}</span></label>`
    )
  }${below(drawn)}</fieldset>`
}

/** A field with its label, its hint and its fault. */
const fieldOf = (drawn: Drawn): Html => {
  const { field, id, name, values: [value = ""] } = drawn
  if (field.kind === "hidden") return html`<input type="hidden" name="${name}" value="${value}">`
  if (field.kind === "radio" || field.kind === "checks") return choices(drawn)
  if (field.kind === "flag") {
    return html`<div class="field"><label class="choice"><input type="checkbox" value="on"${attributes(drawn)}${
      value !== "" && new Html(" checked")
    }><span class="name">${labelText(drawn)}</span></label>${below(drawn)}</div>`
  }
  return html`<div class="field"><label for="${id}">${labelText(drawn)}</label>${control(drawn)}${below(drawn)}</div>`
}

interface FormOptions {
  /** The text of the button. */
  readonly submit: string
  readonly tone?: "main" | "danger" | "plain"
  /** The values of fields, such as those that are stored. */
  readonly values?: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  /** The choices of fields that the page has read. */
  readonly choices?: Readonly<Record<string, ReadonlyArray<Option>>>
  /** Where *Cancel* leads. */
  readonly cancel?: string
  /** Content between the fields and the button. */
  readonly more?: HtmlValue
  /** A button that shows what the form would do, and what that is once a person has asked for it. */
  readonly preview?: { readonly label: string; readonly shown: HtmlValue | undefined }
  /**
   * A button that shows what is typed in a locked frame below the form, for which the page draws a `frame` if
   * {@link isDraft}.
   */
  readonly draft?: {
    readonly label: string
    /** What the frame is, for people who do not see it. */
    readonly title: string
    /** The page that it has first. */
    readonly first: string
  }
}

/** The fault of a field. Those of parts, such as `scopes[1]`, belong to the whole. */
const faultAt = (attempt: Attempt | undefined, name: string) =>
  attempt?.faults.find(({ param }) => param === name || param.startsWith(`${name}[`) || param.startsWith(`${name}.`))

/** Why a form was refused, and how long to wait. */
export const whyOf = ({ t }: Ask, { message, seconds }: Attempt): Html =>
  html`${message}${seconds !== undefined && html` ${countdown(t, seconds)}`}`

const summary = (ask: Ask, attempt: Attempt, shown: ReadonlyMap<string, string>): Html => {
  const { t } = ask
  // What is wrong with a proof is said at its fields.
  const said = [...shown.keys(), passwordField, codeField]
  const other = attempt.faults.filter(({ param }) => !said.some((name) => param.startsWith(name)))
  return html`<div class="problem" role="alert" tabindex="-1"><h2>${icon("circle-alert")}<span>${
    t.text("form.problem")
  }</span></h2><p>${whyOf(ask, attempt)}</p>${
    shown.size > 0 && html`<p>${t.text("form.problems", { count: shown.size })}</p><ul>${
      [...shown].map(([id, label]) => html`<li><a href="#f-${id}">${label}</a></li>`)
    }</ul>`
  }${
    other.length > 0 && html`<ul>${
      other.map(({ message, param }) => html`<li><code>${param}</code> ${message}</li>`)
    }</ul>`
  }</div>`
}

/** The page of a proof alone, which has a button for passkeys. */
const confirmPath = "/console/confirm"

/** Its address, for a proof that leads to another page. */
export const confirmation = (next: string): string => `${confirmPath}?next=${encodeURIComponent(next)}`

/** The fields with which a person proves their identity before a form that needs a fresh proof. */
const proofOf = <A extends Ask, R>(
  ask: A,
  { isFresh, name: form }: Action<A, R>,
  attempt: Attempt | undefined
): Html | false => {
  const { t } = ask
  if (!isFresh || !isOfPerson(ask)) return false
  const { has_second_factor, is_fresh } = ask.signedIn
  if (is_fresh) return false
  const given = (name: string, field: Field<unknown>) =>
    fieldOf({ ask, name, field, values: [], fault: faultAt(attempt, name), id: `f-${form}${name}`, options: [] })
  return html`<fieldset class="proof"><legend>${icon("lock")}<span>${
    t.text("proof.title")
  }</span></legend><p class="hint">${t.text("proof.text")}</p>${given(passwordField, proofFields.password)}${
    has_second_factor && given(codeField, proofFields.code)
  }${
    has_second_factor && ask.party !== undefined && ask.path !== confirmPath
    && html`<p><a data-proof href="${confirmation(withQuery(ask, {}))}">${t.text("proof.passkey")}</a></p>`
  }</fieldset>`
}

/** Works without scripts: the form is sent, and not done. The answer opens at what was asked for, or in the draft's frame. */
const insteadButton = (ask: Ask, what: Instead, label: string) =>
  html`<button class="quiet" name="${insteadField}" value="${what}" formnovalidate${
    what === "draft" ? html` formtarget="${what}"` : html` formaction="${withQuery(ask, {})}#${what}"`
  }>${icon(what === "command" ? "terminal" : "eye")}<span>${label}</span></button>`

const previewOf = ({ preview }: FormOptions) =>
  preview?.shown !== undefined &&
  html`<div class="field" id="preview" tabindex="-1" role="group" aria-label="${preview.label}">${preview.shown}</div>`

const commandOf = <A extends Ask, R>(ask: A, { callOf }: Action<A, R>, { form: sent }: Attempt) =>
  callOf !== undefined &&
  html`<div class="field" id="command" tabindex="-1"><p class="hint">${ask.t.text("form.curl")}</p>${
    copyable(ask, curlOf(ask, callOf(sent, ask)), { label: ask.t.text("common.curl"), isBlock: true })
  }</div>`

const draftFrame = ({ first, title }: NonNullable<FormOptions["draft"]>) =>
  html`<iframe class="mail" name="draft" sandbox title="${title}" src="${first}"></iframe>`

/** The form of an action. After a refusal it shows the typed values, with the faults at their fields. */
export const form = <A extends Ask, R>(ask: A, action: Action<A, R>, options: FormOptions): Html => {
  const attempt = ask.attempt?.action === action.name ? ask.attempt : undefined
  const { once, token } = ask.seal(action.name)
  const sentOnce = attempt?.once ?? once
  // A browser sends a time that is half typed as an empty one, so it must refuse it itself.
  const isChecked = Object.values(action.fields).some(({ kind }) => kind === "time")
  const drawn = Object.entries(action.fields).map(([name, field]): Drawn => ({
    ask,
    name,
    field,
    values: attempt === undefined
      ? [options.values?.[name] ?? field.initial?.(ask) ?? []].flat()
      : attempt.form.getAll(name),
    fault: faultAt(attempt, name),
    id: `f-${name}`,
    options: options.choices?.[name] ?? field.options?.(ask) ?? [],
    isChecked
  }))
  const faulty = new Map(
    drawn.flatMap(({ fault, field, name }) =>
      fault === undefined || field.label === undefined ? [] : [[name, ask.t.named(field.label) ?? name]]
    )
  )
  return html`<form method="post" class="form"${!isChecked && new Html(" novalidate")}>
${attempt?.message !== undefined && summary(ask, attempt, faulty)}
<input type="hidden" name="${actionField}" value="${action.name}"><input type="hidden" name="${tokenField}" value="${token}"><input type="hidden" name="${onceField}" value="${sentOnce}">
${drawn.map(fieldOf)}${options.more}${proofOf(ask, action, attempt)}
<div class="buttons"><button class="${options.tone ?? "main"}">${options.submit}</button>${
    options.cancel !== undefined && html`<a class="button" href="${options.cancel}">${ask.t.text("common.cancel")}</a>`
  }${options.preview !== undefined && insteadButton(ask, "preview", options.preview.label)}${
    options.draft !== undefined && insteadButton(ask, "draft", options.draft.label)
  }${action.callOf !== undefined && insteadButton(ask, "command", ask.t.text("common.curl"))}</div>
${asksFor(attempt, "preview") && previewOf(options)}${asksFor(attempt, "command") && commandOf(ask, action, attempt)}${
    options.draft !== undefined && draftFrame(options.draft)
  }</form>`
}

interface ButtonOptions {
  readonly label: Html | string
  readonly values?: Readonly<Record<string, string>>
  readonly tone?: "main" | "danger" | "quiet"
  /** Another page whose action it is. */
  readonly at?: string
  /** Scripts copy the text of the answer, which stays on this page. */
  readonly copiesAnswer?: boolean
}

/** A form that is one button. Its fields are hidden ones. */
export const buttonForm = <A extends Ask, R>(ask: A, action: Action<A, R>, options: ButtonOptions): Html => {
  const { once, token } = ask.seal(action.name)
  return html`<form method="post" class="inline"${options.at !== undefined && html` action="${options.at}"`}${
    options.copiesAnswer === true && new Html(" data-copies")
  }><input type="hidden" name="${actionField}" value="${action.name}"><input type="hidden" name="${tokenField}" value="${token}"><input type="hidden" name="${onceField}" value="${once}">${
    Object.entries(options.values ?? {}).map(([name, value]) =>
      html`<input type="hidden" name="${name}" value="${value}">`
    )
  }<button${options.tone !== undefined && html` class="${options.tone}"`}>${options.label}</button></form>`
}

/** Why a form without fields did not work: a button has no place for it. */
export const refusalOf = (ask: Ask): Html | false =>
  ask.attempt?.message !== undefined &&
  html`<div class="problem" role="alert" tabindex="-1"><h2>${icon("circle-alert")}<span>${
    ask.t.text("form.problem")
  }</span></h2><p>${whyOf(ask, ask.attempt)}</p></div>`
