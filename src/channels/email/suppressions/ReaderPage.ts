import { type Html, html } from "../../../platform/http/html.ts"

const frame = (title: string, content: Html) =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="/u/style.css">
</head>
<body><main>${content}</main></body>
</html>
`.markup

/** Served at `/u/style.css`. */
export const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;place-items:center;min-height:100vh}
main{max-width:28rem;padding:2rem;text-align:center}
button{font:inherit;font-weight:600;padding:.7rem 1.4rem;border:0;border-radius:.5rem;background:#2563eb;color:#fff;cursor:pointer}
button:hover{background:#1d4ed8}
.address{font-weight:600;overflow-wrap:anywhere}`

/** Asks. A GET changes nothing, since mail scanners open every link. */
export const ask = (address: string) =>
  frame(
    "Unsubscribe",
    html`<h1>Unsubscribe</h1>
<p>No more mail from this sender to <span class="address">${address}</span>?</p>
<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>Unsubscribe</button></form>`
  )

export const done = (address: string) =>
  frame(
    "Unsubscribed",
    html`<h1>Unsubscribed</h1>
<p>This sender will not write to <span class="address">${address}</span> again.</p>`
  )

export const unknown = frame(
  "Link not known",
  html`<h1>This link is not known</h1>
<p>It may have been cut on its way. Open it from the mail once more, or answer the mail and ask to be left out.</p>`
)

export const brokenLink = frame(
  "Link broken",
  html`<h1>This link is broken</h1>
<p>It may have been cut on its way. Open it from the mail once more, or ask its sender where it should lead.</p>`
)
