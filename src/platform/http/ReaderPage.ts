import { HttpRouter, HttpServerResponse } from "effect/http"
import { type Html, html } from "./html.ts"

const style = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;display:grid;place-items:center;min-height:100vh}
main{max-width:28rem;padding:2rem;text-align:center}
button{font:inherit;font-weight:600;padding:.7rem 1.4rem;border:0;border-radius:.5rem;background:#2563eb;color:#fff;cursor:pointer}
button:hover{background:#1d4ed8}
.address{font-weight:600;overflow-wrap:anywhere}`

const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** The style sheet of all pages for readers of mail. */
export const Style = HttpRouter.add(
  "GET",
  "/u/style.css",
  HttpServerResponse.text(style, { contentType: "text/css" })
)

/** Responds to a reader of mail with a page. */
export const respond = (title: string, content: Html, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
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
`.markup,
    { status, contentType: "text/html; charset=utf-8", headers: { "content-security-policy": policy } }
  )
