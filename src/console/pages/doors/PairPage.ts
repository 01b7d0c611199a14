import { Effect, Option, Schema } from "effect"
import { PairingLinks } from "../../../channels/whatsapp/sessions/PairingLinks.ts"
import { Sessions } from "../../../channels/whatsapp/sessions/Sessions.ts"
import { PairingRequest } from "../../../channels/whatsapp/sessions/SessionsApi.ts"
import { html } from "../../../platform/http/html.ts"
import { Action, Refused, show } from "../../page/Action.ts"
import type { Ask } from "../../page/Ask.ts"
import { Field } from "../../page/Field.ts"
import { Page } from "../../page/Page.ts"
import { form } from "../../ui/form.ts"
import { codeTimeout, picture, scanSteps, steps, timed, typed } from "../../ui/pairing.ts"
import { linkButton, note } from "../../ui/parts.ts"

const decodeRequest = Schema.decodeUnknownOption(PairingRequest)

/** The session of the link, if it works. */
const linked = ({ params }: Ask) => Effect.flatMap(PairingLinks, ({ open }) => open(params["token"] ?? ""))

const askForCode = Action.own({
  name: "code",
  fields: {
    phone_number: Field.text({
      label: "sessions.code.number",
      hint: "sessions.code.numberHint",
      autocomplete: "tel",
      isMono: true
    })
  },
  run: ({ phone_number }, ask: Ask) =>
    Effect.gen(function*() {
      const { t } = ask
      const which = Option.getOrUndefined(yield* linked(ask))
      if (which === undefined) return yield* Refused.of(t.text("pair.over.text"))
      const request = decodeRequest({ phone_number })
      if (Option.isNone(request)) {
        const message = t.text("sessions.code.wrong")
        return yield* Refused.of(message, { faults: [{ param: "phone_number", message }] })
      }
      const made = yield* (yield* Sessions).pairingCode(which, request.value.phone_number.replaceAll(/\D/g, ""))
      return show({
        title: t.text("sessions.code.made"),
        content: html`${typed(ask, made)}<p>${linkButton(ask.path, t.text("pair.back"), { icon: "arrow-left" })}</p>`
      })
    })
})

const read = Effect.fnUntraced(function*(ask: Ask) {
  const which = Option.getOrUndefined(yield* linked(ask))
  if (which === undefined) return undefined
  const sessions = yield* Sessions
  const session = Option.getOrUndefined(yield* Effect.option(sessions.find(which)))
  if (session === undefined) return undefined
  if (session.status === "connected") return { session, qr: undefined }
  const qr = yield* Effect.option(Effect.timeout(Effect.flatMap(sessions.qr(which), timed), codeTimeout))
  return {
    session: Option.getOrElse(yield* Effect.option(sessions.find(which)), () => session),
    qr: Option.getOrUndefined(qr)
  }
})

/** Pairs one session, for the person who holds the phone. It shows the name of the session, and nothing else of the account. */
export const pairPage = Page.door({
  path: "/pair/:token",
  read,
  draw: (found, ask) => {
    const { path, t } = ask
    if (found === undefined) {
      return { title: t.text("pair.over.title"), status: 410, content: html`<p>${t.text("pair.over.text")}</p>` }
    }
    const { qr, session: { name, status } } = found
    const isPaired = status === "connected"
    return {
      title: t.text("pair.title", { name }),
      isLive: !isPaired,
      content: html`<div class="stack">${
        isPaired
          ? note(t.text("pair.done"), "good")
          : html`<div>${steps(ask, scanSteps)}${picture(ask, qr)}${
            linkButton(path, t.text("sessions.pair.refresh"), { icon: "refresh-cw" })
          }</div>`
      }</div>${
        !isPaired &&
        html`<h2>${t.text("pair.instead")}</h2>${form(ask, askForCode, { submit: t.text("sessions.code.button") })}`
      }`
    }
  },
  actions: [askForCode]
})
