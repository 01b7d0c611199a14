import { Effect } from "effect"
import type { MessageContent } from "../../../messages/Message.ts"
import { ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { compiledText } from "../../../templates/CompiledTemplate.ts"
import { requireValues } from "../../../templates/requireValues.ts"
import * as Template from "../../../templates/Template.ts"
import { codePointsOf } from "../../../values/Text.ts"
import { captionOf, isMedia, maxLength, storedContent, type WhatsAppContent } from "../content/MessageContent.ts"
import type { NewMessageBatch } from "./MessagesApi.ts"

type Recipients = NewMessageBatch["recipients"]

const withText = (message: WhatsAppContent, content: MessageContent, text: string): MessageContent =>
  isMedia(message) ? { ...content, body: text, caption: text } : { ...content, body: text }

/** The content for each recipient of a batch. The text or caption is a template; everything else is shared. */
export const bulkContents = Effect.fnUntraced(function*(message: WhatsAppContent, recipients: Recipients) {
  const field = message.type === "text" ? "body" : "caption"
  const text = message.type === "text" ? message.content.body : captionOf(message)
  const content = storedContent(message)
  if (text === undefined || text === "") return recipients.map(() => content)
  const template = yield* compiledText(text, `content.${field}`)
  yield* requireValues(template, recipients)
  return yield* Effect.forEach(recipients, ({ variables = {} }, index) => {
    const where = `recipients[${index}].variables`
    // Measured before rendering, because values can make a huge text. A code point has at most two units.
    const isHuge = Template.lengths(template, variables).text > 2 * maxLength[field]
    const made = isHuge ? "" : Template.render(template, variables).text ?? ""
    if (isHuge || codePointsOf(made) > maxLength[field]) {
      return Effect.fail(ValidationFailed.of(where, `must make a text of at most ${maxLength[field]} characters`))
    }
    return message.type === "text" && made.trim() === ""
      ? Effect.fail(ValidationFailed.of(where, "must not make an empty text"))
      : Effect.succeed(withText(message, content, made))
  })
})
