/** Says in the reader's language why a form or a page was refused. */
import type { Translate } from "../language/Messages.ts"
import { ruleOf } from "../language/rules.ts"
import { type Action, onceField, type Refused } from "./Action.ts"
import type { Ask, Attempt, FieldFault, TextPlace } from "./Ask.ts"

/** Why, in a sentence. The console's own reasons are in the reader's language, and those of the API are not. */
const causeText = (t: Translate, { facts, reason, type }: Refused): string =>
  type === undefined ? reason : t.named(`error.${type}`, facts) ?? t.text("error.other", { detail: reason })

/** Why, and how long to wait. */
export const reasonText = (t: Translate, refused: Refused): string => {
  const { retry_after: seconds } = refused.facts
  const text = causeText(t, refused)
  return seconds === undefined ? text : `${text} ${t.text("problem.tooFast.text", { seconds })}`
}

/** The index of the entry, or the name of the part, that a fault within a field is about. */
const placeOf = (param: string) => {
  const [, index = "0", header = ""] = /^\w+(?:\[(\d+)\]|\.(.+))/.exec(param) ?? []
  return { index: Number(index), header }
}

/** What a form says of a fault, in the reader's language. */
export const sentenceOf = (t: Translate, { message, param, type }: FieldFault) => {
  const rule = ruleOf(message)
  const { header, index } = placeOf(param)
  const fault = (rule === undefined ? undefined : t.named(rule.text, { ...rule.values, header }))
    ?? t.named(`fault.${type}`) ?? t.text("fault.other", { detail: message })
  return index === 0 ? fault : t.text("fault.entry", { number: index + 1, fault })
}

/** The place that the sentence of a fault names. */
const textPlaceOf = (message: string): TextPlace | undefined => {
  const [, line, column] = /^line (\d+), column (\d+):/.exec(message) ?? []
  return line === undefined ? undefined : { line: Number(line), column: Number(column) }
}

/** The form that a person has sent. */
interface Sent<A extends Ask, R> {
  readonly action: Action<A, R>
  readonly form: URLSearchParams
}

/** What the API says of a field. */
const faultOf =
  <A extends Ask, R>(t: Translate, { action: { fields }, form }: Sent<A, R>, refused: Refused) =>
  (fault: FieldFault): FieldFault => {
    const { message, param, type } = fault
    const isEmpty = fields[param]?.isRequired === true && form.getAll(param).every((value) => value.trim() === "")
    if (type === undefined) return { param, message }
    if (type === refused.type) return { param, message: reasonText(t, refused) }
    return { param, message: isEmpty ? t.text("fault.missing") : sentenceOf(t, fault), place: textPlaceOf(message) }
  }

/** The form whose command, preview or draft a person asked for, for its page. */
export const askedOf = <A extends Ask, R>({ action, form }: Sent<A, R>): Attempt => ({
  action: action.name,
  form,
  message: undefined,
  faults: [],
  status: 200,
  once: undefined
})

/** The values that the form shows. */
const shownOf = (form: URLSearchParams, { left = {} }: Refused) => {
  const shown = new URLSearchParams(form)
  for (const [name, value] of Object.entries(left)) shown.set(name, value)
  return shown
}

/** The refused form for its page. */
export const attemptOf = <A extends Ask, R>(t: Translate, sent: Sent<A, R>, refused: Refused): Attempt => ({
  action: sent.action.name,
  form: shownOf(sent.form, refused),
  message: causeText(t, refused),
  seconds: refused.facts.retry_after,
  faults: refused.faults.map(faultOf(t, sent, refused)),
  status: refused.status,
  once: refused.status >= 500 || refused.type === "idempotency_in_progress"
    ? sent.form.get(onceField) ?? undefined
    : undefined
})
