import { Cause, Context, Effect, Layer, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { gzipSync } from "node:zlib"
import { Outages } from "../../platform/database/Outages.ts"
import { isDatabaseUnavailable } from "../../platform/database/unavailable.ts"
import { attachment } from "../../platform/http/answerInTime.ts"
import { isApiError, statusOf } from "../../platform/http/ApiError.ts"
import { accepts } from "../../platform/http/ready/PreparedAnswer.ts"
import { RequestContext } from "../../platform/http/RequestContext.ts"
import { type Next, refusedBy } from "../page/Action.ts"
import { type Ask, type Drawn, isOfPerson } from "../page/Ask.ts"
import { doorFramed, framed, type Surroundings } from "../ui/layout.ts"
import { type Problem, problemPage } from "../ui/problem.ts"
import { doneCookie, doneOf, frameHeaders, pageHeaders, signInCookie, withCookies } from "./Browser.ts"
import type { Visit } from "./Visits.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Leads a browser to another page: 302 for a page that another one stands in for, 303 after a form. */
export const redirect = ({ approach, cookies }: Visit, to: string, status: 302 | 303): Response =>
  withCookies(HttpServerResponse.redirect(to, { status, headers: pageHeaders(approach.isSecure) }), approach, cookies)

/** What follows a form that did its work, if it is another page. */
export const follow = (visit: Visit, { done, signIn, to }: Extract<Next, { readonly _tag: "Go" }>): Response => {
  const cookies = [
    ...visit.cookies,
    ...(done === undefined ? [] : [doneCookie(done)]),
    ...(signIn === undefined ? [] : [signInCookie(visit.approach, signIn)])
  ]
  return redirect({ ...visit, cookies }, to, 303)
}

/** Why a page could not be drawn. A defect is logged whole. */
const problemOf = Effect.fnUntraced(
  function*(outages: Outages["Service"], cause: Cause.Cause<unknown>): Effect.fn.Return<Problem> {
    const found = cause.reasons.flatMap((reason) =>
      Cause.isFailReason(reason) ? [reason.error] : Cause.isDieReason(reason) ? [reason.defect] : []
    ).find(isApiError)
    if (found !== undefined) {
      const status = statusOf(found)
      if (status === 404) return { kind: "missing" }
      if (status === 503) return { kind: "away" }
      const refused = yield* refusedBy(found)
      const { retry_after: seconds } = refused.facts
      return status === 429 && seconds !== undefined ? { kind: "tooFast", seconds } : { kind: "other", refused }
    }
    if (isDatabaseUnavailable(cause)) {
      yield* outages.note(cause)
      return { kind: "away" }
    }
    const { requestId } = yield* RequestContext
    yield* Effect.logError("page failed", cause).pipe(Effect.annotateLogs({ request_id: requestId }))
    return { kind: "broken", requestId }
  }
)

/** Compressed quickly: a page differs each time. The tokens of its forms are masked, so its length tells nothing of them. */
const htmlOf = (
  { request }: Visit,
  { headers, markup, status = 200 }: {
    readonly markup: string
    readonly headers: Readonly<Record<string, string>>
    readonly status?: number | undefined
  }
): Response => {
  const zips = accepts(request.headers["accept-encoding"] ?? "", "gzip")
  return HttpServerResponse.uint8Array(zips ? gzipSync(markup, { level: 4 }) : Buffer.from(markup), {
    status,
    contentType: "text/html; charset=utf-8",
    headers: { ...headers, vary: "accept-encoding", ...(zips && { "content-encoding": "gzip" }) }
  })
}

const fileOf = ({ approach }: Visit, file: NonNullable<Drawn["file"]>): Response => {
  const headers = pageHeaders(approach.isSecure)
  return "bytes" in file
    ? HttpServerResponse.uint8Array(file.bytes, {
      contentType: file.type,
      headers: { ...headers, "content-disposition": attachment(file.name) }
    })
    : HttpServerResponse.stream(Stream.encodeText(file.lines), {
      contentType: file.type ?? "text/csv; charset=utf-8",
      headers: { ...headers, "content-disposition": `attachment; filename="${file.name}"` }
    })
}

/** Turns what pages draw into answers. */
export class Answers extends Context.Service<Answers, {
  readonly page: (visit: Visit, ask: Ask, drawn: Drawn) => Response
  readonly problem: (visit: Visit, ask: Ask, problem: Problem) => Response
  /** Answers with a page, also where drawing it fails. */
  readonly guarded: <E, R>(
    visit: Visit,
    ask: Ask,
    drawing: Effect.Effect<Response, E, R>
  ) => Effect.Effect<Response, never, R>
}>()("messaging-service/console/gate/Answers") {
  static readonly layer = (surroundings: Surroundings) =>
    Layer.effect(
      Answers,
      Effect.map(Outages, (outages) => {
        const page = (visit: Visit, ask: Ask, drawn: Drawn): Response => {
          if (drawn.frame !== undefined) {
            const headers = frameHeaders(visit.approach.isSecure)
            const answer = htmlOf(visit, { markup: drawn.frame, status: drawn.status, headers })
            return withCookies(answer, visit.approach, visit.cookies)
          }
          if (drawn.file !== undefined) {
            return withCookies(fileOf(visit, drawn.file), visit.approach, visit.cookies)
          }
          const done = doneOf(visit.request)
          const frame = { drawn, done: done === undefined ? undefined : ask.t.named(done) }
          const markup = isOfPerson(ask) ? framed(ask, frame, surroundings) : doorFramed(ask, frame)
          const answer = htmlOf(visit, { markup, status: drawn.status, headers: pageHeaders(visit.approach.isSecure) })
          return withCookies(answer, visit.approach, [
            ...visit.cookies,
            ...(done === undefined ? [] : [doneCookie(null)])
          ])
        }
        const problem = (visit: Visit, ask: Ask, what: Problem) =>
          page(visit, ask, problemPage(ask.t, what, visit.request.method === "GET"))
        return Answers.of({
          page,
          problem,
          guarded: (visit, ask, drawing) =>
            Effect.catchCause(drawing, (cause) =>
              Cause.hasInterrupts(cause)
                ? Effect.interrupt
                : Effect.map(problemOf(outages, cause), (what) => problem(visit, ask, what)))
        })
      })
    )
}
