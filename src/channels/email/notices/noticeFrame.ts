import { html } from "../../../platform/http/html.ts"

/** Frames a notice as a mail: a greeting, the text, and the service that sends it. */
export const noticeFrame = (
  notice: { readonly name: string; readonly subject: string; readonly body: string },
  url: string
): { readonly text: string; readonly html: string } => {
  const greeting = notice.name === "" ? "Hello," : `Hello ${notice.name},`
  const reason = "You get this mail because it concerns your account at "
  const paragraphs = [greeting, ...notice.body.trim().split(/\n(?:[ \t]*\n)+/)]
  // Only links to this service, because other parts of the text may come from strangers.
  const markedLine = (line: string) => line.startsWith(`${url}/`) ? html`<a href="${line}">${line}</a>` : html`${line}`
  const marked = paragraphs.map((paragraph) =>
    html`<p>${
      paragraph.split("\n").map((line, index) => index === 0 ? markedLine(line) : html`<br>${markedLine(line)}`)
    }</p>
`
  )
  return {
    text: `${paragraphs.join("\n\n")}\n\n-- \n${reason}${url}\n`,
    html: html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${notice.subject}</title></head>
<body>
${marked}<hr>
<p><small>${reason}<a href="${url}">${url}</a></small></p>
</body>
</html>
`.markup
  }
}
