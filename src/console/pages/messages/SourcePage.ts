import { Effect, Stream } from "effect"
import { EmailSources } from "../../../channels/email/single/EmailSources.ts"
import { html } from "../../../platform/http/html.ts"
import { EmailMessageId } from "../../../values/Ids.ts"
import { marked } from "../../language/Messages.ts"
import { withQuery } from "../../page/Ask.ts"
import { idIn, Page } from "../../page/Page.ts"
import { linkButton, note, number } from "../../ui/parts.ts"
import { recipientsText } from "./messageParts.ts"

/** The page shows so many characters of a source. Its file has all of them. */
const mostShown = 16 * 1024

/** The mail as the service hands it to the relay. */
export const sourcePage = Page.account({
  path: "/messages/email/:id/source",
  permission: "emails:read",
  read: (ask) =>
    Effect.gen(function*() {
      const id = yield* idIn(ask, EmailMessageId)
      const { email: { to }, source } = yield* (yield* EmailSources).read(ask.accountId, id)
      // A mail on its way has characters of 7 bits alone.
      return { id, to, mail: Buffer.from(source).toString("latin1") }
    }),
  draw: ({ id, mail, to }, ask) => {
    const { t } = ask
    const title = t.text("message.source.title")
    const of = t.text("message.title", { channel: t.text("channel.email"), to: recipientsText(ask, to) })
    return {
      title,
      lead: t.text("message.source.lead"),
      crumbs: [
        { href: ask.to("/messages"), label: t.text("messages.title") },
        { href: ask.to(`/messages/email/${id}`), label: of }
      ],
      curl: `/v1/email/messages/${id}/source`,
      buttons: linkButton(withQuery(ask, { format: "eml" }), t.text("message.source.save"), { icon: "download" }),
      ...(ask.query.get("format") === "eml" && {
        file: { name: `email-${id}.eml`, type: "message/rfc822" as const, lines: Stream.succeed(mail) }
      }),
      content: html`${
        mail.length > mostShown &&
        note(t.text("message.source.cut", { shown: number(ask, mostShown), total: number(ask, mail.length) }), "quiet")
      }<pre class="mail-text" dir="ltr" tabindex="0" role="group" aria-label="${title}"><code>${
        marked(mail.slice(0, mostShown))
      }</code></pre>`
    }
  }
})
