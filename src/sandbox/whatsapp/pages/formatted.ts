import { type Html, html } from "../../../platform/http/html.ts"
import { linked } from "../../pages/shown.ts"

const block = /```([^`]{1,4000})```|`([^`\n]{1,1000})`/

/** A sign around text without a blank beside it, at the borders of words. */
const emphasis = /(?<![\p{L}\p{N}])([*_~])(?=\S)([^\n]{0,1000}?\S)\1(?![\p{L}\p{N}])/u

const tags = {
  "*": (content: Html) => html`<strong>${content}</strong>`,
  _: (content: Html) => html`<em>${content}</em>`,
  "~": (content: Html) => html`<s>${content}</s>`
} as const

const isTag = (sign: string): sign is keyof typeof tags => sign in tags

const emphasised = (text: string): Html => {
  const found = emphasis.exec(text)
  if (found === null) return linked(text)
  const [whole, sign = "", inner = ""] = found
  if (!isTag(sign)) return linked(text)
  const after = text.slice(found.index + whole.length)
  return html`${linked(text.slice(0, found.index))}${tags[sign](emphasised(inner))}${emphasised(after)}`
}

/** The text of a message as WhatsApp shows it: *bold*, _italic_, ~strike~, `code` and ```code```. */
export const formatted = (text: string): Html => {
  const found = block.exec(text)
  if (found === null) return emphasised(text)
  const [whole, code, short = ""] = found
  const after = text.slice(found.index + whole.length)
  return html`${emphasised(text.slice(0, found.index))}<code>${code ?? short}</code>${formatted(after)}`
}
