import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PairingRequests } from "../../channels/whatsapp/sessions/PairingRequests.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { queryOf } from "../../platform/http/RequestContext.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { parts, SandboxAccess } from "../pages/SandboxAccess.ts"
import { type FormFields, formFields } from "./formFields.ts"
import { phonePage, type ShownChat } from "./pages/PhonePage.ts"
import { phonesPage } from "./pages/PhonesPage.ts"
import { makeActions } from "./PhoneActions.ts"
import { type PhoneRefusal, SimulatedWhatsApp } from "./SimulatedWhatsApp.ts"

const { path } = parts.phones

const makeViews = Effect.gen(function*() {
  const { control } = yield* SimulatedWhatsApp
  const sessions = yield* PairingRequests

  const overview = Effect.all({
    pending: sessions.list,
    phones: control("phones"),
    devices: control("sessions"),
    groups: control("groups")
  })

  const detail = Effect.fnUntraced(function*(number: string) {
    const phones = yield* control("phones")
    const phone = phones.find((candidate) => candidate.number === number)
    if (phone === undefined) return yield* new NotFound()
    const groups = yield* control("groups")
    return {
      phone,
      messages: yield* control("messages", number),
      devices: (yield* control("sessions")).filter((device) => device.number === number),
      groups: groups.filter(({ members }) => members.some((member) => member.number === number)),
      others: phones.filter((candidate) => candidate.number !== number)
    }
  })

  return { overview, detail }
})

/** The type under which a browser shows a file; undefined if it must only be downloaded. */
const shownType = (type: string) =>
  /^(?:image\/(?:png|jpeg|gif|webp)|audio\/[\w.+-]+|video\/[\w.+-]+)(?=;|$)/.exec(type)?.[0]

const makeReads = Effect.gen(function*() {
  const { answer, route } = yield* LocalPage.partOf(parts.phones)
  const { control } = yield* SimulatedWhatsApp
  const { detail, overview } = yield* makeViews

  const list = Effect.gen(function*() {
    const data = yield* overview
    return yield* answer({ data }, () => phonesPage(data))
  })

  const one = Effect.gen(function*() {
    const query = queryOf(yield* HttpServerRequest.HttpServerRequest)
    const { number = "" } = yield* HttpRouter.params
    const content = yield* detail(number)
    const { others: _, ...data } = content
    return yield* answer({ data }, () => phonePage(content, { chat: query.get("chat"), reply: query.get("reply") }))
  })

  const media = Effect.gen(function*() {
    const { id = "", number = "" } = yield* HttpRouter.params
    const file = yield* Effect.mapError(control("media", number, id), () => new NotFound())
    const type = shownType(file.mimetype)
    return HttpServerResponse.uint8Array(Buffer.from(file.base64, "base64"), {
      contentType: type ?? "application/octet-stream",
      headers: {
        "content-security-policy": "default-src 'none'; sandbox",
        "x-content-type-options": "nosniff",
        ...(type === undefined && { "content-disposition": "attachment" })
      }
    })
  })

  return [route("GET", "", list), route("GET", "/:number", one), route("GET", "/:number/media/:id", media)]
})

const makeForms = Effect.gen(function*() {
  const { page, route } = yield* LocalPage.partOf(parts.phones)
  const { detail, overview } = yield* makeViews
  const actions = yield* makeActions

  /** The page of the form again, with the reason above it. */
  const showProblem = Effect.fnUntraced(function*(number: string | undefined, open: ShownChat, reason: string) {
    return number === undefined
      ? page(phonesPage(yield* overview, reason), 409)
      : page(phonePage(yield* detail(number), open, reason), 409)
  })

  const post = (
    below: "" | `/${string}`,
    act: (form: FormFields, number: string) => Effect.Effect<string, PhoneRefusal>
  ) =>
    route(
      "POST",
      below,
      Effect.gen(function*() {
        const { number } = yield* HttpRouter.params
        const form = yield* formFields
        const chat = form.field("chat") || form.field("to") || null
        return yield* act(form, number ?? "").pipe(
          Effect.map((next) => LocalPage.redirect(`${path}${next}`)),
          Effect.catchTag("PhoneRefusal", ({ reason }) => showProblem(number, { chat, reply: null }, reason))
        )
      })
    )

  return [
    post("", actions.create),
    post("/scan", actions.scan),
    post("/code", actions.enterCode),
    post("/devices/drop", actions.drop),
    post("/devices/log-out", actions.logOut),
    post("/:number/send", actions.send),
    post("/:number/files", actions.sendFile),
    post("/:number/react", actions.react),
    post("/:number/groups", actions.createGroup),
    post("/:number/join", actions.join)
  ]
})

/**
 * The phones for people and for curl: pages, the same as JSON (`Accept: application/json`), and forms for everything
 * that a person does with a phone.
 */
export const SandboxPhonesHttp = HttpRouter.addAll(
  Effect.map(Effect.all([makeReads, makeForms]), (routes) => routes.flat())
).pipe(Layer.provide([PairingRequests.layer, SandboxAccess.layer]))
