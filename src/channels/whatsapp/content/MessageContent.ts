import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import type { MessageContent } from "../../../messages/Message.ts"
import type { Violation } from "../../../platform/http/ApiErrors.ts"
import { violationsOf } from "../../../platform/http/violations.ts"
import { MessageId } from "../../../values/Ids.ts"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { codePointsBetween, lineBetween, notBlank, Text, textBetween } from "../../../values/Text.ts"
import { type MediaType, mediaTypeProblem } from "./media.ts"

const MiB = 1024 * 1024

/** Decoded size. Base64 makes 9.3 MiB of it, and the body of a request may have 10 MiB. */
const maxInlineBytes = 7 * MiB

/** In code points, so that an emoji of two UTF-16 units counts once. */
export const maxLength = { body: 4_096, caption: 1_024 } as const

const Caption = codePointsBetween(0, maxLength.caption)

const recommended = /^\p{RGI_Emoji}$/v

/** Pictograms, with or without a modifier or a colour selector, joined to one (UTS #51, 1.4.9). */
const joined =
  /^\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?(?:\u200D\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)*$/u

/** Whether a text is exactly one emoji. `joined` also accepts emoji that are newer than this Node. */
const isEmoji = (text: string): boolean => recommended.test(text) || joined.test(text)

const Base64 = Schema.String.check(
  Schema.makeFilter((text: string) =>
    text.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)
      ? "must be base64: letters, digits, + and /, padded with ="
      : (text.length / 4) * 3 > maxInlineBytes + 2
      ? `must have at most ${maxInlineBytes / MiB} MiB, decoded; send larger files by url`
      : undefined
  )
)

const mimeType = (kind: MediaType) =>
  lineBetween(3, 255).check(
    Schema.makeFilter((text: string) => mediaTypeProblem(kind, text), { toJsonSchema: () => ({}) })
  ).annotate({ description: "May have parameters: audio/ogg; codecs=opus" })

/** A file by its URL or by its bytes. The service checks the URL, because the rules depend on settings. */
const media = <F extends Schema.Struct.Fields>(kind: MediaType, more: F) =>
  Schema.Struct({
    url: Schema.optionalKey(Text),
    base64: Schema.optionalKey(Base64),
    mime_type: Schema.optionalKey(mimeType(kind)),
    ...more
  })

const captioned = { caption: Schema.optionalKey(Caption) }

/** The content of each type of message in a request. */
const contents = {
  text: Schema.Struct({
    body: codePointsBetween(1, maxLength.body).check(notBlank)
  }),
  image: media("image", captioned),
  video: media("video", captioned),
  audio: media("audio", {}),
  document: media("document", { ...captioned, filename: Schema.optionalKey(lineBetween(1, 255)) }),
  location: Schema.Struct({
    latitude: Schema.Finite.check(Schema.isBetween({ minimum: -90, maximum: 90 })),
    longitude: Schema.Finite.check(Schema.isBetween({ minimum: -180, maximum: 180 })),
    name: Schema.optionalKey(textBetween(0, 256))
  }),
  contact: Schema.Struct({
    name: lineBetween(1, 200),
    phones: Schema.Array(PhoneNumber).check(
      Schema.isMinLength(1, { message: "must name at least one number" }),
      Schema.isMaxLength(20, { message: "must name at most 20 numbers" })
    )
  }),
  poll: Schema.Struct({
    question: textBetween(1, 255).check(notBlank),
    options: Schema.Array(textBetween(1, 100).check(notBlank)).check(
      Schema.isMinLength(2, { message: "must have at least 2 options" }),
      Schema.isMaxLength(12, { message: "must have at most 12 options" }),
      Schema.makeFilter((options: ReadonlyArray<string>) =>
        new Set(options).size === options.length ? undefined : "must have each option once"
      )
    )
  }),
  reaction: Schema.Struct({
    message_id: MessageId,
    emoji: textBetween(0, 32).check(
      Schema.makeFilter(
        (text: string) =>
          text === "" || isEmoji(text) ? undefined : "must be one emoji, or empty to remove the reaction",
        { toJsonSchema: () => ({}) }
      )
    ).annotate({ description: "One emoji. Empty removes the reaction." })
  })
} as const

/** The types of messages that can be sent over WhatsApp (api: content by type). */
export const MessageType = Schema.Literals([
  "text",
  "image",
  "video",
  "audio",
  "document",
  "location",
  "contact",
  "poll",
  "reaction"
])
export type MessageType = typeof MessageType.Type

export type ContentOf<T extends MessageType> = (typeof contents)[T]["Type"]

/** A message content together with its type. */
export type WhatsAppContent = { readonly [T in MessageType]: { readonly type: T; readonly content: ContentOf<T> } }[
  MessageType
]

const mediaTypes: ReadonlySet<string> = new Set<MediaType>(["image", "video", "audio", "document"])

/** Whether messages of this type carry a file. */
export const isMediaType = (type: MessageType): boolean => mediaTypes.has(type)

const nameOf = (type: MessageType) => `WhatsApp${type.charAt(0).toUpperCase()}${type.slice(1)}Content`

/** The content of each type, by its name in the OpenAPI document. */
export const contentSchemas = MessageType.literals.map((type) =>
  Schema.toEncoded(contents[type]).annotate({ identifier: nameOf(type) })
)

const onePhone = {
  type: "object",
  properties: { name: { type: "string" }, phone: { type: "string" } },
  required: ["name", "phone"]
} as const

/** What a string stands for, in place of the object. */
const shortForm = (type: MessageType) =>
  type === "text"
    ? "the body"
    : isMediaType(type)
    ? "the url"
    : type === "location"
    ? "latitude,longitude"
    : "the object as JSON"

/**
 * Documents which content belongs to which type. {@link readContent} checks it, because a string is read by its type. There
 * is no `discriminator`: OpenAPI requires its property in every body, and `type` may be absent.
 */
export const byType = Schema.makeFilter(() => true, {
  toJsonSchema: () => ({
    anyOf: MessageType.literals.map((type) => ({
      type: "object",
      properties: {
        type: { type: "string", enum: [type] },
        content: {
          description: `A string is ${shortForm(type)}`,
          anyOf: [
            { type: "string" },
            { $ref: `#/components/schemas/${nameOf(type)}` },
            ...(type === "contact" ? [onePhone] : [])
          ]
        }
      },
      required: type === "text" ? ["content"] : ["type", "content"]
    }))
  })
})

const typed = <T extends MessageType>(type: T) => Schema.Struct({ type: Schema.Literal(type), content: contents[type] })

const Content = Schema.Union([
  typed("text"),
  typed("image"),
  typed("video"),
  typed("audio"),
  typed("document"),
  typed("location"),
  typed("contact"),
  typed("poll"),
  typed("reaction")
])

export const isMedia = (message: WhatsAppContent): message is Extract<WhatsAppContent, { readonly type: MediaType }> =>
  isMediaType(message.type)

const parsed = Schema.decodeResult(Schema.fromJsonString(Schema.Json))

const coordinates = /^\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)\s*$/

/**
 * A string is short for the body of a text, the URL of a file, or the coordinates of a location. Otherwise, it is the object
 * as JSON. A text is never read as JSON, because people send such texts.
 */
const readString = (type: MessageType, input: string): unknown => {
  if (type === "text") return { body: input }
  if (mediaTypes.has(type) && !input.trimStart().startsWith("{")) return { url: input }
  const [, latitude, longitude] = (type === "location" && coordinates.exec(input)) || []
  return latitude === undefined
    ? Result.getOrElse(parsed(input), () => input)
    : { latitude: Number(latitude), longitude: Number(longitude) }
}

const hasOnePhone = Schema.is(Schema.Struct({ phone: Schema.String }))

const objectOf = (type: MessageType, input: unknown): unknown => {
  const content = typeof input === "string" ? readString(type, input) : input
  if (type !== "contact" || !hasOnePhone(content) || "phones" in content) return content
  const { phone, ...contact } = content
  return { ...contact, phones: [phone] }
}

/** An object of each type that has no other short form, for people and programs that wrote something else. */
const examples: Readonly<Partial<Record<MessageType, string>>> = {
  location: `{"latitude": -1.94, "longitude": 30.06, "name": "Kigali"}`,
  contact: `{"name": "Ada", "phones": ["+250788123456"]}`,
  poll: `{"question": "Lunch?", "options": ["yes", "no"]}`,
  reaction: `{"message_id": 7, "emoji": "👍"}`
}

const decode = Schema.decodeUnknownResult(Content, { errors: "all" })

const eitherOr: Violation = { param: "content", type: "invalid", message: "must have either url or base64" }

/** Decodes the content of a request, or lists all its violations. */
export const readContent = (
  type: MessageType,
  input: unknown
): Result.Result<WhatsAppContent, ReadonlyArray<Violation>> =>
  Result.flatMap(
    Result.mapError(decode({ type, content: objectOf(type, input) }), ({ issue }) =>
      violationsOf(issue).map((violation) =>
        violation.param === "content" && examples[type] !== undefined
          ? { ...violation, message: `${violation.message}, such as ${examples[type]}` }
          : violation
      )),
    (message) =>
      isMedia(message) && (message.content.url === undefined) === (message.content.base64 === undefined)
        ? Result.fail([eitherOr])
        : Result.succeed(message)
  )

/** The content as it is stored: always with a `body`, never with the bytes of a file. */
export const storedContent = (message: WhatsAppContent): MessageContent => {
  switch (message.type) {
    case "text":
      return message.content
    case "location":
      return { body: message.content.name ?? "", ...message.content }
    case "contact":
      return { body: message.content.name, ...message.content }
    case "poll":
      return { body: message.content.question, ...message.content }
    case "reaction":
      return { body: message.content.emoji, ...message.content }
    default: {
      const { base64: _, ...content } = message.content
      return { body: captionOf(message) ?? "", ...content }
    }
  }
}

/** Decodes a stored content; undefined if its type does not fit. */
export const contentOfRecord = (type: MessageType, content: MessageContent): WhatsAppContent | undefined =>
  Result.getOrElse(decode({ type, content }), () => undefined)

/** The caption of a message that carries a file. */
export const captionOf = (message: WhatsAppContent): string | undefined =>
  isMedia(message) && "caption" in message.content ? message.content.caption : undefined

const group = /^\d{5,25}(-\d{5,15})?@g\.us$/
const decodeNumber = Schema.decodeResult(PhoneNumber)

const readChat = (text: string): Result.Result<string, string> => {
  if (text.includes("@")) {
    return group.test(text) ? Result.succeed(text) : Result.fail("must be a phone number or the WhatsApp id of a group")
  }
  const number = decodeNumber(text)
  return Result.mapError(number, (error) => violationsOf(error.issue)[0]?.message ?? "is not a phone number")
}

const Canonical = Schema.String.pipe(Schema.brand("ChatName"))

/** The chat to send to: a phone number, with or without its plus, or the WhatsApp id of a group (`…@g.us`). */
export const ChatName = Schema.String.annotate({
  description: "A phone number, or the id of a group, which ends in @g.us"
})
  .pipe(
    Schema.decodeTo(
      Canonical,
      SchemaTransformation.transformEffect({
        decode: (text, options) =>
          Effect.fromResult(
            Result.mapError(readChat(text), (message) => new SchemaIssue.InvalidValue({ message }, text, options))
          ),
        encode: (chat) => Effect.succeed(chat)
      })
    )
  )
export type ChatName = typeof Canonical.Type

/** Whether a chat is a group. */
export const isGroup = (chat: string): boolean => chat.endsWith("@g.us")
