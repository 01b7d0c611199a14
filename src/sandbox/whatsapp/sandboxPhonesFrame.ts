import { type Html, html } from "../../platform/http/html.ts"

/** Where the phones are served. */
export const sandboxPhonesPath = "/sandbox/phones"

/** Why what was asked cannot be done, above the page that it was asked on. */
const problemOf = (problem: string | undefined) =>
  problem !== undefined && html`<p class="card problem" role="alert">${problem}</p>`

/** A page of the phones as a complete document. */
export const sandboxPhonesFrame = (
  { problem, title }: { readonly problem: string | undefined; readonly title: string },
  content: Html
): string =>
  `<!doctype html>\n${
    html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Sandbox phones</title>
<link rel="stylesheet" href="${sandboxPhonesPath}/style.css">
</head>
<body>
<header class="bar"><div>
<a class="brand" href="${sandboxPhonesPath}">Sandbox phones <span class="pill">local only</span></a>
</div></header>
<main>
${problemOf(problem)}
${content}
</main>
</body>
</html>
`.markup
  }`

/** A form that posts to a page below the phones. */
export const postForm = (to: string, content: Html, kind: "" | "below" = ""): Html =>
  html`<form method="post" action="${sandboxPhonesPath}${to}" class="${kind}">${content}</form>`

/** A list of rows, or what is said when there are none. */
export const rowsOr = (rows: ReadonlyArray<Html>, nothing: string): Html =>
  rows.length === 0
    ? html`<p class="quiet">${nothing}</p>`
    : html`<ul class="rows card">${rows.map((row) => html`<li>${row}</li>\n`)}</ul>`

/** A button that does something to a linked device, and comes back to the same page. */
const deviceButton = (session: string, verb: "drop" | "log-out", label: string) =>
  postForm(
    `/devices/${verb}`,
    html`<input type="hidden" name="session" value="${session}"><button>${label}</button>`
  )

/** A linked device with what can be done to it. */
export const deviceRow = (
  { isConnected, logins, session, waiting }: {
    readonly session: string
    readonly isConnected: boolean
    readonly logins: number
    readonly waiting: number
  }
): Html =>
  html`<span class="what"><code>${session}</code>
<span class="quiet">${
    isConnected ? "connected" : "not connected"
  }, logins: ${logins}, stanzas that wait: ${waiting}</span></span>
${isConnected && deviceButton(session, "drop", "Drop the line")}${deviceButton(session, "log-out", "Log out")}`
