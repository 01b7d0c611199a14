import { HttpServerResponse } from "effect/http"

const policy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** Answers a reader of mail with a page. */
export const readerPage = (markup: string, status = 200): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(markup, {
    status,
    contentType: "text/html; charset=utf-8",
    headers: { "content-security-policy": policy }
  })
