import { ByteSize, Effect, Layer, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PairingRequests } from "../../channels/whatsapp/sessions/PairingRequests.ts"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { WhatsAppSessionId } from "../../values/Ids.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { isGroupJid } from "./model/Address.ts"
import { SandboxPhonesPages, sandboxPhonesSite, sandboxPhonesStyle } from "./SandboxPhonesPages.ts"
import { PhoneRefusal, SimulatedWhatsApp } from "./SimulatedWhatsApp.ts"

// Without a referrer browsers hide the origin of a form as well, and `isOwnForm` would reject it.
const page = (markup: string, status = 200) => LocalPage.respond(markup, { status, referrer: "same-origin" })

/** Removes the signs that people write between digits. */
const digits = (text: string) => text.replaceAll(/[\s+().-]/g, "")

/** The code in an invite link, or the code itself. */
const inviteOf = (text: string) => text.trim().replace(/^.*\//s, "")

/** The fields of a form. A body that is too large, or not a form, has none. */
const form = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  const text = yield* request.text.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe("128 KiB")),
    Effect.orElseSucceed(() => "")
  )
  const fields = new URLSearchParams(text)
  return (name: string) => (fields.get(name) ?? "").trim()
})

type Field = Effect.Success<typeof form>

const makePages = Effect.gen(function*() {
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
    if (phone === undefined) return undefined
    const groups = yield* control("groups")
    return {
      phone,
      messages: yield* control("messages", number),
      devices: (yield* control("sessions")).filter((device) => device.number === number),
      groups: groups.filter(({ members }) => members.some((member) => member.number === number)),
      others: phones.filter((candidate) => candidate.number !== number)
    }
  })

  const showAll = (problem?: string) =>
    Effect.map(
      overview,
      (content) => page(SandboxPhonesPages.overview(content, problem), problem === undefined ? 200 : 409)
    )

  const showOne = Effect.fnUntraced(function*(number: string, problem?: string) {
    const content = yield* detail(number)
    return content === undefined
      ? page(SandboxPhonesPages.missing(number), 404)
      : page(SandboxPhonesPages.phone(content, problem), problem === undefined ? 200 : 409)
  })

  return { overview, detail, showAll, showOne }
})

/** The actions behind the forms. Each returns the path of the next page. */
const makeActions = Effect.gen(function*() {
  const { control } = yield* SimulatedWhatsApp
  const sessions = yield* PairingRequests

  /** Finds or creates the phone of a number. A new phone without a name is called by its number. */
  const phoneFor = Effect.fnUntraced(function*(text: string, name = "") {
    const number = digits(text)
    const known = (yield* control("phones")).find((phone) => phone.number === number)
    if (known === undefined || name !== "") yield* control("createPhone", number, name === "" ? number : name)
    return number
  })

  const qrCodeOf = Effect.fnUntraced(function*(session: string) {
    const code = /^[1-9]\d{0,14}$/.test(session)
      ? yield* sessions.code(WhatsAppSessionId.make(Number(session)))
      : Option.none()
    if (Option.isSome(code)) return code.value
    return yield* new PhoneRefusal({ reason: "This session shows no QR code now. Reload the page and try again." })
  })

  const scan = Effect.fnUntraced(function*(field: Field) {
    const number = yield* phoneFor(field("number"))
    yield* control("scan", field("qr") === "" ? yield* qrCodeOf(field("session")) : field("qr"), number)
    return `/${number}`
  })

  const enterCode = Effect.fnUntraced(function*(field: Field) {
    const number = yield* phoneFor(field("number"))
    yield* control("enterPairingCode", field("code"), number)
    return `/${number}`
  })

  /** The group if the phone is a member, otherwise the phone of a number. */
  const chatFor = Effect.fnUntraced(function*(number: string, to: string) {
    if (!isGroupJid(to)) return yield* phoneFor(to)
    const group = (yield* control("groups")).find(({ id }) => id === to)
    if (group?.members.some((member) => member.number === number) === true) return to
    return yield* new PhoneRefusal({ reason: "The phone is not in this group. Join the group first." })
  })

  const send = Effect.fnUntraced(function*(field: Field, number: string) {
    yield* control("sendText", number, yield* chatFor(number, field("to")), { text: field("text") })
    return `/${number}`
  })

  const createGroup = Effect.fnUntraced(function*(field: Field, number: string) {
    const members = field("members").split(/[,;\n]/).map(digits).filter((member) => member !== "")
    yield* Effect.forEach(members, (member) => phoneFor(member))
    yield* control("createGroup", number, field("subject"), members)
    return `/${number}`
  })

  const join = (field: Field, number: string) =>
    Effect.as(control("joinGroup", number, inviteOf(field("link"))), `/${number}`)

  const create = (field: Field) => Effect.map(phoneFor(field("number"), field("name")), (number) => `/${number}`)

  const device = (verb: "dropConnection" | "logOut") => (field: Field) =>
    Effect.as(control(verb, field("session")), `/${field("session").replace(/:.*$/s, "")}`)

  return { create, scan, enterCode, send, createGroup, join, drop: device("dropConnection"), logOut: device("logOut") }
})

const makeReads = Effect.gen(function*() {
  const route = yield* LocalPage.routesOf(sandboxPhonesSite)
  const { detail, overview, showAll, showOne } = yield* makePages

  const list = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      LocalPage.wantsJson(request)
        ? Effect.map(overview, (data) => HttpServerResponse.jsonUnsafe({ data }))
        : showAll()
  )

  const one = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { number = "" } = yield* HttpRouter.params
    if (!LocalPage.wantsJson(request)) return yield* showOne(number)
    const content = yield* detail(number)
    if (content === undefined) return yield* errorResponse(new NotFound())
    const { others: _, ...data } = content
    return HttpServerResponse.jsonUnsafe({ data })
  })

  return [
    route("GET", "", Effect.orDie(list)),
    route("GET", "/style.css", Effect.succeed(LocalPage.styleSheet(sandboxPhonesStyle))),
    route("GET", "/:number", Effect.orDie(one))
  ]
})

const makeForms = Effect.gen(function*() {
  const route = yield* LocalPage.routesOf(sandboxPhonesSite)
  const { showAll, showOne } = yield* makePages
  const actions = yield* makeActions

  const post = (
    below: "" | `/${string}`,
    act: (field: Field, number: string) => Effect.Effect<string, PhoneRefusal>
  ) =>
    route(
      "POST",
      below,
      Effect.gen(function*() {
        const { number } = yield* HttpRouter.params
        return yield* act(yield* form, number ?? "").pipe(
          Effect.map((next) => HttpServerResponse.redirect(`${sandboxPhonesSite.path}${next}`, { status: 303 })),
          Effect.catchTag("PhoneRefusal", ({ reason }) =>
            number === undefined ? showAll(reason) : showOne(number, reason)),
          Effect.orDie
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
).pipe(Layer.provide(PairingRequests.layer))
