import { ByteSize, Effect, Option } from "effect"
import { HttpIncomingMessage, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { PairingRequests } from "../../channels/whatsapp/sessions/PairingRequests.ts"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { WhatsAppSessionId } from "../../values/Ids.ts"
import { isLocalRequest } from "../pages/localRequest.ts"
import { isGroupJid } from "./model/Address.ts"
import { isOwnForm } from "./model/isOwnForm.ts"
import { sandboxPhonesPath as path } from "./sandboxPhonesFrame.ts"
import { SandboxPhonesPages } from "./SandboxPhonesPages.ts"
import { sandboxPhonesStyle } from "./sandboxPhonesStyle.ts"
import { PhoneRefusal, SimulatedWhatsApp } from "./SimulatedWhatsApp.ts"

const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const page = (markup: string, status = 200) =>
  HttpServerResponse.text(markup, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": policy,
      // Without a referrer browsers would not say either that the forms come from here.
      "referrer-policy": "same-origin"
    }
  })

const style = HttpServerResponse.text(sandboxPhonesStyle, { contentType: "text/css; charset=utf-8" })

const wantsJson = (request: HttpServerRequest.HttpServerRequest) =>
  /\bapplication\/json\b/i.test(request.headers["accept"] ?? "")

/** As people write numbers. */
const digits = (text: string) => text.replaceAll(/[\s+().-]/g, "")

/** The last part of a link, or the code alone. */
const inviteOf = (text: string) => text.trim().replace(/^.*\//s, "")

/** A form as it came; what is too large or no form has no fields. */
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
    Effect.map(overview, (seen) => page(SandboxPhonesPages.overview(seen, problem), problem === undefined ? 200 : 409))

  const showOne = Effect.fnUntraced(function*(number: string, problem?: string) {
    const seen = yield* detail(number)
    return seen === undefined
      ? page(SandboxPhonesPages.missing(number), 404)
      : page(SandboxPhonesPages.phone(seen, problem), problem === undefined ? 200 : 409)
  })

  return { overview, detail, showAll, showOne }
})

/** What the forms do; each answers with the page to go to. */
const makeDeeds = Effect.gen(function*() {
  const { control } = yield* SimulatedWhatsApp
  const sessions = yield* PairingRequests

  /** The phone of a number: a new one gets its number as its name. */
  const phoneFor = Effect.fnUntraced(function*(text: string, name = "") {
    const number = digits(text)
    const known = (yield* control("phones")).find((phone) => phone.number === number)
    if (known === undefined || name !== "") yield* control("createPhone", number, name === "" ? number : name)
    return number
  })

  const shownBy = Effect.fnUntraced(function*(session: string) {
    const id = /^[1-9]\d{0,14}$/.test(session)
      ? yield* sessions.code(WhatsAppSessionId.make(Number(session)))
      : Option.none()
    if (Option.isSome(id)) return id.value
    return yield* new PhoneRefusal({ reason: "This session shows no code at the moment" })
  })

  const scan = Effect.fnUntraced(function*(field: Field) {
    const number = yield* phoneFor(field("number"))
    yield* control("scan", field("qr") === "" ? yield* shownBy(field("session")) : field("qr"), number)
    return `/${number}`
  })

  const enterCode = Effect.fnUntraced(function*(field: Field) {
    const number = yield* phoneFor(field("number"))
    yield* control("enterPairingCode", field("code"), number)
    return `/${number}`
  })

  /** The group, if the phone is in it, or the phone of a number. */
  const chatFor = Effect.fnUntraced(function*(number: string, to: string) {
    if (!isGroupJid(to)) return yield* phoneFor(to)
    const group = (yield* control("groups")).find(({ id }) => id === to)
    if (group?.members.some((member) => member.number === number) === true) return to
    return yield* new PhoneRefusal({ reason: "The phone is in no such group" })
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

  const device = (verb: "dropLine" | "logOut") => (field: Field) =>
    Effect.as(control(verb, field("session")), `/${field("session").replace(/:.*$/s, "")}`)

  return { create, scan, enterCode, send, createGroup, join, drop: device("dropLine"), logOut: device("logOut") }
})

/** Strangers get what they would get if there were no phones, and so do the forms of foreign pages. */
const local = <E, R>(answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      isLocalRequest(request) && (request.method !== "POST" || isOwnForm(request))
        ? Effect.orDie(answer)
        : errorResponse(new NotFound())
  )

const makeReads = Effect.gen(function*() {
  const { detail, overview, showAll, showOne } = yield* makePages

  const list = Effect.flatMap(
    HttpServerRequest.HttpServerRequest,
    (request) =>
      wantsJson(request) ? Effect.map(overview, (data) => HttpServerResponse.jsonUnsafe({ data })) : showAll()
  )

  const one = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { number = "" } = yield* HttpRouter.params
    if (!wantsJson(request)) return yield* showOne(number)
    const seen = yield* detail(number)
    if (seen === undefined) return yield* errorResponse(new NotFound())
    const { others: _, ...data } = seen
    return HttpServerResponse.jsonUnsafe({ data })
  })

  return [
    HttpRouter.route("GET", path, local(list)),
    HttpRouter.route("GET", `${path}/style.css`, local(Effect.succeed(style))),
    HttpRouter.route("GET", `${path}/:number`, local(one))
  ]
})

const makeForms = Effect.gen(function*() {
  const { showAll, showOne } = yield* makePages
  const deeds = yield* makeDeeds

  const post = (
    below: "" | `/${string}`,
    deed: (field: Field, number: string) => Effect.Effect<string, PhoneRefusal>
  ) =>
    HttpRouter.route(
      "POST",
      `${path}${below}`,
      local(Effect.gen(function*() {
        const { number } = yield* HttpRouter.params
        return yield* deed(yield* form, number ?? "").pipe(
          Effect.map((next) => HttpServerResponse.redirect(`${path}${next}`, { status: 303 })),
          Effect.catchTag("PhoneRefusal", ({ reason }) =>
            number === undefined ? showAll(reason) : showOne(number, reason))
        )
      }))
    )

  return [
    post("", deeds.create),
    post("/scan", deeds.scan),
    post("/code", deeds.enterCode),
    post("/devices/drop", deeds.drop),
    post("/devices/log-out", deeds.logOut),
    post("/:number/send", deeds.send),
    post("/:number/groups", deeds.createGroup),
    post("/:number/join", deeds.join)
  ]
})

/**
 * The phones for people and for curl, to programs on this machine only: pages and JSON (for `Accept: application/json`),
 * and forms that do what a person does with a phone.
 */
export const SandboxPhonesHttp = HttpRouter.addAll(
  Effect.map(Effect.all([makeReads, makeForms]), (routes) => routes.flat())
)
