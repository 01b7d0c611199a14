import { Effect, FileSystem } from "effect"
import { HttpRouter, type HttpServerRequest } from "effect/http"
import * as NodeUrl from "node:url"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { errorResponse } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { publicBase } from "../../platform/http/PublicUrl.ts"
import { PreparedAnswer } from "../../platform/http/ready/PreparedAnswer.ts"
import type { Guide } from "./guidePage.ts"

const directory = NodeUrl.fileURLToPath(new URL("../../../docs/guides", import.meta.url))

/** The list of the guides, as the index has it: a link and one line for each. */
const listed = (index: string, base: string) =>
  [...index.matchAll(/^- \[(.*?)\]\((.*?)\): (.*)$/gm)].map(([, title, file, line]) =>
    `- [${title}](${base}/docs/guides/${file}): ${line}`
  ).join("\n")

/** The guides for programs that read text, in the form of llmstxt.org. */
const llmsText = (index: string, base: string) =>
  `# Messaging Service

> A self-hosted service for email, SMS, WhatsApp messages and one-time codes: one HTTP API, and signed webhooks.

Send each request with the header \`Authorization: Bearer <API key>\`. Every error body has a \`doc_url\` that says what to do.

## Guides

${listed(index, base)}

## Reference

- [OpenAPI document](${base}/openapi.json): every endpoint with its fields, answers and errors
- [Reference](${base}/docs): the same for people
`

/** Every guide with its text, the index among them. */
export const readGuides = Effect.gen(function*() {
  const files = yield* FileSystem.FileSystem
  const names = (yield* files.readDirectory(directory)).filter((name) => name.endsWith(".md"))
  return yield* Effect.forEach(
    names,
    (file) =>
      Effect.map(
        files.readFileString(`${directory}/${file}`),
        (text): Guide => ({ name: file.replace(/\.md$/, ""), text })
      )
  )
})

/** Content-Security-Policy of a guide: its style sheet and nothing else. */
const policy = "default-src 'none'; style-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

const prepared = (text: string, type: string) =>
  PreparedAnswer.compressed({
    text,
    type: `${type}; charset=utf-8`,
    headers: { "cache-control": "public, max-age=300", "content-security-policy": policy }
  })

/** Every answer by its path. */
const prepareAll = Effect.fnUntraced(function*(base: string) {
  const { guidePage, style } = yield* Effect.promise(() => import("./guidePage.ts"))
  const answers = new Map<string, PreparedAnswer>()
  for (const guide of yield* readGuides) {
    const path = guide.name === "README" ? "/docs/guides" : `/docs/guides/${guide.name}`
    answers.set(path, yield* prepared(guidePage(guide), "text/html"))
    answers.set(`/docs/guides/${guide.name}.md`, yield* prepared(guide.text, "text/markdown"))
    if (guide.name === "README") answers.set("/llms.txt", yield* prepared(llmsText(guide.text, base), "text/plain"))
  }
  return answers.set("/docs/guides/style.css", yield* prepared(style, "text/css"))
})

/** The guides of docs/guides as pages and as Markdown, and their list for programs. */
export const GuidesRoutes = HttpRouter.use(Effect.fnUntraced(function*(router) {
  // Rendered at the first request, so that no start waits for it.
  const answers = yield* Effect.cached(Effect.orDie(prepareAll(publicBase(yield* AppConfig))))
  const answer = Effect.fnUntraced(function*({ headers, url }: HttpServerRequest.HttpServerRequest) {
    const path = url.replace(/\/?(?:\?.*)?$/, "")
    const found = (yield* answers).get(path)
    return found === undefined ? yield* errorResponse(new NotFound()) : PreparedAnswer.response(found, headers)
  })
  for (const path of ["/docs/guides", "/docs/guides/:name", "/llms.txt"] as const) {
    yield* router.add("GET", path, answer)
  }
}))
