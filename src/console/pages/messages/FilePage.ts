/** The files of WhatsApp messages. */
import { Effect, type Schema } from "effect"
import { isFileType } from "../../../channels/whatsapp/content/media.ts"
import { Media } from "../../../channels/whatsapp/inbox/Media.ts"
import type { Message } from "../../../messages/Message.ts"
import { Messages } from "../../../messages/Messages.ts"
import { type Html, html } from "../../../platform/http/html.ts"
import { MessageId } from "../../../values/Ids.ts"
import type { AccountAsk, Ask } from "../../page/Ask.ts"
import { idIn, Page } from "../../page/Page.ts"
import { code, foreign, icon } from "../../ui/parts.ts"

/** Which of these messages have a file that can be downloaded, as far as the service knows. */
export const filesKept = Effect.fnUntraced(function*({ accountId }: AccountAsk, messages: ReadonlyArray<Message>) {
  const ids = messages.flatMap(({ direction, id, type }) => direction === "in" && isFileType(type) ? [id] : [])
  return yield* (yield* Media).kept(accountId, ids)
})

const sizes = new Map<string, Intl.NumberFormat>()

const sizeText = ({ t: { intl } }: Ask, bytes: number) => {
  const unit = bytes < 1_000_000 ? "kilobyte" : "megabyte"
  const name = `${intl} ${unit}`
  const known = sizes.get(name) ?? new Intl.NumberFormat(intl, { style: "unit", unit, maximumSignificantDigits: 3 })
  sizes.set(name, known)
  return known.format(bytes / (unit === "kilobyte" ? 1000 : 1_000_000))
}

/**
 * The file of a message: a link that downloads it, or the reason why it cannot be downloaded. False if the message has
 * no file.
 */
export const fileLine = (ask: AccountAsk, message: Message, kept: ReadonlySet<number>): Html | false => {
  const { content, direction, id, type } = message
  if (!isFileType(type)) return false
  const { t } = ask
  const { filename, size, url }: Readonly<Record<string, Schema.Json | undefined>> = content ?? {}
  const isKept = kept.has(id)
  const label = html`${icon(isKept ? "download" : "file-text")} ${t.text(`file.${type}`)}${
    typeof filename === "string" && html` ${foreign(filename)}`
  }`
  return html`<p>${isKept ? html`<a href="${ask.to(`/messages/whatsapp/${id}/file`)}">${label}</a>` : label}${
    typeof size === "number" && html` <span class="quiet">${sizeText(ask, size)}</span>`
  }${typeof url === "string" && html` ${code(url)}`}</p>${
    !isKept && html`<p class="quiet">${t.text(direction === "out" ? "file.sent" : "error.media_gone")}</p>`
  }`
}

/** Characters that turn a name around, are not seen, or have a meaning in paths. */
const unsafe = /[\p{C}\p{Zl}\p{Zp}"*/:<>?\\|]/gu

/** The name that the sender gave, else one with the type's own ending. */
const nameOf = ({ content, id }: Message, mimeType: string) => {
  const given = String(content?.["filename"] ?? "").replaceAll(unsafe, "").trim()
  return given === "" ? `whatsapp-${id}.${mimeType.replace(/^.*\//, "")}` : given
}

/** The file of a received message, to save. Its type does not reach the browser, because a stranger chose it. */
export const filePage = Page.account({
  path: "/messages/whatsapp/:id/file",
  permission: "messages:read",
  read: (ask) =>
    Effect.gen(function*() {
      const { accountId } = ask
      const id = yield* idIn(ask, MessageId)
      const message = yield* (yield* Messages).find({ accountId, channel: "whatsapp" }, id)
      return { message, ...(yield* (yield* Media).fetch(accountId, id)) }
    }),
  draw: ({ bytes, message, mimeType }) => {
    const name = nameOf(message, mimeType)
    return { title: name, content: html``, file: { name, type: "application/octet-stream", bytes } }
  }
})
