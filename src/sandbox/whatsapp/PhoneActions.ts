import { Effect, Option } from "effect"
import { PairingRequests } from "../../channels/whatsapp/sessions/PairingRequests.ts"
import { WhatsAppSessionId } from "../../values/Ids.ts"
import type { FormFields } from "./formFields.ts"
import { isGroupJid } from "./model/Address.ts"
import { PhoneRefusal, SimulatedWhatsApp } from "./SimulatedWhatsApp.ts"

/** Removes the signs that people write between digits. */
const digits = (text: string) => text.replaceAll(/[\s+().-]/g, "")

/** The code in an invite link, or the code itself. */
const inviteOf = (text: string) => text.trim().replace(/^.*\//s, "")

const chatPath = (number: string, chat: string) => `/${number}?chat=${encodeURIComponent(chat)}`

const kinds = ["image", "video", "audio"] as const

/** The kind of message for a file of this type. */
const kindOf = (type: string) => kinds.find((kind) => type.startsWith(`${kind}/`)) ?? "document"

/** The actions behind the forms. Each returns the path of the next page. */
export const makeActions = Effect.gen(function*() {
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

  const scan = Effect.fnUntraced(function*({ field }: FormFields) {
    const number = yield* phoneFor(field("number"))
    yield* control("scan", field("qr") === "" ? yield* qrCodeOf(field("session")) : field("qr"), number)
    return `/${number}`
  })

  const enterCode = Effect.fnUntraced(function*({ field }: FormFields) {
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

  const send = Effect.fnUntraced(function*({ field }: FormFields, number: string) {
    if (field("text") === "") return yield* new PhoneRefusal({ reason: "The message has no text." })
    const chat = yield* chatFor(number, field("to"))
    const replyTo = field("reply") === "" ? {} : { replyTo: field("reply") }
    yield* control("sendText", number, chat, { text: field("text"), ...replyTo })
    return chatPath(number, chat)
  })

  const sendFile = Effect.fnUntraced(function*({ field, file }: FormFields, number: string) {
    if (file === undefined) return yield* new PhoneRefusal({ reason: "There is no file, or it has more than 16 MiB." })
    const chat = yield* chatFor(number, field("to"))
    yield* control("sendMedia", number, chat, {
      kind: kindOf(file.type),
      mimetype: file.type === "" ? "application/octet-stream" : file.type,
      base64: Buffer.from(file.bytes).toString("base64"),
      fileName: file.name,
      ...(field("caption") !== "" && { caption: field("caption") })
    })
    return chatPath(number, chat)
  })

  const react = Effect.fnUntraced(function*({ field }: FormFields, number: string) {
    yield* control("react", number, field("message"), field("emoji"))
    return chatPath(number, field("chat"))
  })

  const createGroup = Effect.fnUntraced(function*({ field }: FormFields, number: string) {
    const members = field("members").split(/[,;\n]/).map(digits).filter((member) => member !== "")
    yield* Effect.forEach(members, (member) => phoneFor(member))
    yield* control("createGroup", number, field("subject"), members)
    return `/${number}`
  })

  const join = ({ field }: FormFields, number: string) =>
    Effect.as(control("joinGroup", number, inviteOf(field("link"))), `/${number}`)

  const create = ({ field }: FormFields) =>
    Effect.map(phoneFor(field("number"), field("name")), (number) => `/${number}`)

  const device = (verb: "dropConnection" | "logOut") => ({ field }: FormFields) =>
    Effect.as(control(verb, field("session")), `/${field("session").replace(/:.*$/s, "")}`)

  return {
    create,
    scan,
    enterCode,
    send,
    sendFile,
    react,
    createGroup,
    join,
    drop: device("dropConnection"),
    logOut: device("logOut")
  }
})
