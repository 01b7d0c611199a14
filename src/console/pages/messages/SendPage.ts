import { Effect, Option, Result, Schema } from "effect"
import type { Session } from "../../../channels/whatsapp/model/Session.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { html } from "../../../platform/http/html.ts"
import { Templates } from "../../../templates/Templates.ts"
import { TemplateId } from "../../../values/Ids.ts"
import type { AccountAsk } from "../../page/Ask.ts"
import { Page } from "../../page/Page.ts"
import { attemptOf } from "../../page/refusals.ts"
import { asksFor, form } from "../../ui/form.ts"
import { card, code, emptyState, facts, foreign, note } from "../../ui/parts.ts"
import { tabs } from "../../ui/progress.ts"
import { channelsOf, tabIn } from "./messageParts.ts"
import { groupIn, prefilledAgain, prefilledIn } from "./prefilled.ts"
import { sendEmail, sendFixed, sendSms, sendTemplate, sendToGroup, sendWhatsApp } from "./sendActions.ts"
import { previewOf, previewShown } from "./sendPreview.ts"

const mostSessions = 100

const templateOf = Effect.fnUntraced(function*({ accountId }: AccountAsk, given: string | null | undefined) {
  const id = Schema.decodeUnknownOption(TemplateId)(given)
  if (Option.isNone(id)) return undefined
  const found = yield* Effect.option((yield* Templates).find(accountId, id.value))
  return Option.getOrUndefined(found)
})

/** What a form would do, or why it would be refused, for a person who has asked. */
const previewIn = Effect.fnUntraced(function*(ask: AccountAsk) {
  const { attempt } = ask
  if (!asksFor(attempt, "preview")) return undefined
  const action = [sendEmail, sendTemplate, sendSms].find(({ name }) => name === attempt.action)
  if (action === undefined) return undefined
  const body = action.callOf?.(attempt.form, ask).body
  const preview = yield* Effect.result(previewOf(ask, action === sendSms ? "sms" : "email", body))
  return { action, form: attempt.form, preview }
})

const read = Effect.fnUntraced(function*(ask: AccountAsk) {
  const channel = tabIn(ask, channelsOf(ask, "write"))
  const again = ask.query.get("again")
  const prefilled = again === null ? prefilledIn(ask) : yield* prefilledAgain(ask, channel, again)
  const sessions: ReadonlyArray<Session> = channel === "whatsapp"
    ? (yield* (yield* Sessions).list(ask.accountId, { status: "connected" }, {
      limit: mostSessions,
      offset: 0,
      after: null
    })).rows
    : []
  const template = channel === "email"
    ? yield* templateOf(ask, prefilled?.template ?? ask.query.get("template"))
    : undefined
  const group = channel === "whatsapp" ? yield* groupIn(ask) : undefined
  return { channel, group, prefilled, previewed: yield* previewIn(ask), sessions, template }
})

type Read = Effect.Success<ReturnType<typeof read>>

const whatsAppForm = (ask: AccountAsk, { group, prefilled, sessions }: Read) => {
  const { t } = ask
  const { isFixed = false, values = {} } = prefilled ?? {}
  const options = { submit: t.text("send.button"), values }
  const isConnected = (wanted: string) => sessions.some(({ id }) => String(id) === wanted)
  if (group !== undefined) {
    const { id, session_id: of } = group
    return isConnected(String(of)) || ask.attempt !== undefined
      ? form(ask, sendToGroup, { ...options, values: { session_id: String(of), group_id: String(id) } })
      : note(t.text("chat.notConnected"), "warn")
  }
  if (sessions.length === 0 && ask.attempt === undefined) {
    return emptyState({
      icon: "smartphone",
      title: t.text("send.noSession.title"),
      text: t.text("send.noSession.text")
    })
  }
  const offered = sessions.map(({ id, name, phone_number }) => ({
    value: String(id),
    label: phone_number === null ? name : `${name} (+${phone_number})`
  }))
  const wanted = ask.attempt?.form.get("session_id") ?? values["session_id"]
  // Another session has another number, so the person chooses it.
  const isAway = wanted !== undefined && !isConnected(wanted)
  const choices = { session_id: isAway ? [{ value: "", label: t.text("send.chooseSession") }, ...offered] : offered }
  return html`${isAway && note(t.text("send.sessionAway"), "warn")}${
    isFixed
      ? html`${
        facts([
          [t.text("message.type"), code(values["type"] ?? "")],
          [t.text("message.content"), code(values["content"] ?? "")]
        ])
      }${form(ask, sendFixed, { ...options, choices })}`
      : form(ask, sendWhatsApp, { ...options, choices })
  }`
}

/** The same page after a refused preview: it shows what is wrong, as a refused form does. */
const refusedIn = (ask: AccountAsk, { previewed }: Read): AccountAsk =>
  previewed === undefined || Result.isSuccess(previewed.preview)
    ? ask
    : { ...ask, attempt: attemptOf(ask.t, previewed, previewed.preview.failure) }

const formOf = (given: Read, asked: AccountAsk) => {
  const ask = refusedIn(asked, given)
  const { channel, prefilled, previewed, template } = given
  const values = prefilled?.values ?? {}
  const preview = {
    label: ask.t.text("send.preview"),
    shown: previewed !== undefined && Result.isSuccess(previewed.preview)
      ? previewShown(ask, previewed.preview.success)
      : undefined
  }
  const options = { submit: ask.t.text("send.button"), values, preview }
  if (channel === "whatsapp") return whatsAppForm(ask, given)
  if (channel === "sms") return form(ask, sendSms, options)
  if (template === undefined) return form(ask, sendEmail, options)
  const variables = template.variables.map((name) => `${name} = `).join("\n")
  return form(ask, sendTemplate, { ...options, values: { ...values, template_id: template.id, variables } })
}

/** The forms that send one message. */
export const sendPage = Page.account({
  path: "/send",
  permission: "messages:write",
  entry: { group: "", label: "nav.send", icon: "send", order: 4, key: "s" },
  read,
  draw: (given, ask) => {
    const { mode, path, t } = ask
    const { channel, group, prefilled, template } = given
    return {
      title: t.text("send.title"),
      crumbs: [{ href: ask.to("/messages"), label: t.text("messages.title") }],
      content: html`${
        tabs(
          t.text("send.channels"),
          channelsOf(ask, "write").map((one) => ({
            label: t.text(`channel.${one}`),
            href: `${path}?channel=${one}`,
            isCurrent: one === channel
          }))
        )
      }
${prefilled === undefined && note(t.text("send.missing"), "warn")}
${prefilled?.isGone === true && note(t.text("send.gone"), "warn")}
${group !== undefined && note(t.rich("send.toGroup", { name: foreign(group.name) }))}
${template !== undefined && note(t.rich("send.withTemplate", { name: foreign(template.name) }))}
${mode === "test" && note(t.text("send.testNote"))}
${card(t.text(`channel.${channel}`), formOf(given, ask), "form")}`
    }
  },
  actions: [sendEmail, sendTemplate, sendSms, sendWhatsApp, sendToGroup, sendFixed]
})
