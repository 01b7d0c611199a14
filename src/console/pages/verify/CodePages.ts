import { Effect, Schema } from "effect"
import type { CodeTimelineEntry } from "../../../history/Timeline.ts"
import { Timelines } from "../../../history/Timelines.ts"
import { NotFound } from "../../../platform/http/ApiErrors.ts"
import { html } from "../../../platform/http/html.ts"
import { VerificationId } from "../../../values/Ids.ts"
import { CodeChannel, type Verification } from "../../../verify/Verification.ts"
import { Verifications } from "../../../verify/Verifications.ts"
import { VerifyApi } from "../../../verify/VerifyApi.ts"
import { Action, goTo, Refused } from "../../page/Action.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { card, code, facts, foreign, linkButton, moment, note, number } from "../../ui/parts.ts"
import { received } from "../../ui/received.ts"
import { languages } from "../doors/SetupPage.ts"
import { whatHappened } from "../messages/happened.ts"
import { besideOf, codeStatusBadge, codeTones } from "../messages/messageParts.ts"

export const crumbs = ({ t, to }: AccountAsk) => [{ href: to("/verify"), label: t.text("nav.verify") }]

const channels = ({ t }: Ask) => [
  { value: "auto", label: t.text("verify.auto") },
  ...CodeChannel.literals.map((channel) => ({ value: channel, label: t.text(`channel.${channel}`) }))
]

const send = Action.make({
  name: "send",
  endpoint: VerifyApi.endpoints.send,
  fields: {
    to: Field.text({ label: "messages.to", hint: "verify.sendHint", autocomplete: "off" }),
    channel: Field.select({ label: "messages.channel", hint: "verify.autoHint", options: channels }),
    brand_name: Field.text({ label: "verify.brand", hint: "verify.brandHint", optional: true, autocomplete: "off" }),
    locale: Field.select({ label: "me.language", options: languages, initial: ({ t }) => t.locale })
  },
  request: ({ brand_name, channel, locale, to }) => ({
    payload: { to: to ?? "", channel, locale, ...(brand_name !== undefined && { brand_name }) }
  }),
  after: ({ data }, { ask }) => goTo(ask.to(`/verify/${data.id}`), "verify.sent")
})

const make = Page.account({
  path: "/verify/new",
  permission: "verify:write",
  read: () => Effect.void,
  draw: (_, ask) => {
    const { mode, query, t } = ask
    return {
      title: t.text("verify.new"),
      crumbs: crumbs(ask),
      content: html`${mode === "test" && note(t.text("send.testNote"))}${
        form(ask, send, {
          submit: t.text("verify.new"),
          cancel: ask.to("/verify"),
          values: { to: query.get("to") ?? undefined, channel: query.get("channel") ?? undefined }
        })
      }`
    }
  },
  actions: [send]
})

const asked = Action.make({
  name: "check",
  endpoint: VerifyApi.endpoints.check,
  fields: {
    code: Field.text({ label: "verify.code", hint: "verify.codeHint", autocomplete: "off", isMono: true })
  },
  request: ({ code: entered }, { params }) => ({ payload: { id: params["id"], code: entered ?? "" } }),
  after: ({ data: { valid } }, { ask }) => goTo(ask.path, valid ? "verify.right" : "verify.wrong")
})

/** A wrong code is no error of the endpoint, but one of the field. */
const check: typeof asked = {
  ...asked,
  run: (sent, ask) =>
    Effect.flatMap(asked.run(sent, ask), (next) => {
      if (next._tag !== "Go" || next.done !== "verify.wrong") return Effect.succeed(next)
      const message = ask.t.text("verify.wrong")
      return Effect.fail(Refused.of(message, { faults: [{ param: "code", message }] }))
    })
}

/** The messages that carried the codes, by their paths. */
const messagesOf = ({ to }: AccountAsk, entries: ReadonlyArray<CodeTimelineEntry>) =>
  [...new Set(entries.flatMap(({ message }) => message === undefined ? [] : [message]))].map((path) => {
    const [, , channel = "", , id = ""] = path.split("/")
    return html`<a href="${to(`/messages/${channel}/${id}`)}">${code(id)}</a> `
  })

const stateOf = (ask: Ask, { expires_at, status }: Verification) => {
  const { t } = ask
  return note(
    status === "pending"
      ? t.rich("verify.pending", { when: moment(ask, expires_at) })
      : t.text(`verify.${status}`),
    codeTones[status]
  )
}

const decodeId = Schema.decodeUnknownEffect(VerificationId)

const one = Page.account({
  path: "/verify/:id",
  permission: "verify:read",
  read: (ask) =>
    Effect.gen(function*() {
      const { accountId } = ask
      const id = yield* Effect.mapError(decodeId(ask.params["id"]), () => new NotFound())
      const found = yield* (yield* Verifications).find(accountId, id)
      return {
        found,
        entries: yield* (yield* Timelines).ofVerification({ accountId, id }),
        beside: ask.mode === "test" ? yield* besideOf(accountId, found.channel, found) : []
      }
    }),
  draw: ({ beside, entries, found }, ask) => {
    const { can, mode, path, t, to } = ask
    const { attempts_remaining, channel, created_at, expires_at, id, status, to: recipient } = found
    const isPending = status === "pending"
    const again = new URLSearchParams({ to: recipient, channel }).toString()
    return {
      title: t.text("verify.one", { to: recipient }),
      isLive: isPending,
      crumbs: crumbs(ask),
      curl: `/v1/verify/status/${id}`,
      buttons: html`${isPending && linkButton(path, t.text("message.refresh"), { icon: "refresh-cw" })}${
        can("verify:write") && linkButton(`${to("/verify/new")}?${again}`, t.text("verify.again"), { icon: "send" })
      }`,
      content: html`<div class="why">${stateOf(ask, found)}</div>
<div class="cards two">${card(t.text("message.timeline"), whatHappened(ask, entries), "timeline")}<div class="cards">${
        isPending && can("verify:write") &&
        card(t.text("verify.check"), form(ask, check, { submit: t.text("verify.check") }), "check")
      }${mode === "test" && card(t.text("sandbox.beside", { to: recipient }), received(ask, beside), "beside")}${
        card(
          t.text("message.facts"),
          facts([
            [t.text("messages.status"), codeStatusBadge(ask, status)],
            [t.text("messages.to"), foreign(recipient)],
            [t.text("messages.channel"), t.text(`channel.${channel}`)],
            [t.text("verify.attempts"), number(ask, attempts_remaining)],
            [t.text("messages.when"), moment(ask, created_at)],
            [t.text("verify.expires"), moment(ask, expires_at)],
            [t.text("message.id"), code(id)],
            [t.text("messages.title"), messagesOf(ask, entries)]
          ]),
          "facts"
        )
      }</div></div>`
    }
  },
  actions: [check]
})

/** Send a code, and one code: check it, and read what happened. */
export const codePages = [make, one] as const
