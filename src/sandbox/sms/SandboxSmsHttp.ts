import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { window } from "../../values/Page.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { listQuery, numberIn, part, readQuery } from "../pages/query.ts"
import { parts, SandboxAccess } from "../pages/SandboxAccess.ts"
import { makeWaitFor } from "../pages/waitFor.ts"
import { SandboxSmsRepo, type SmsFilter } from "./SandboxSmsRepo.ts"
import { smsListPage, smsPage } from "./SmsPage.ts"

const { path } = parts.sms

const selection = { to: part, from: part, text: part, q: part }
const select = readQuery(Schema.Struct(selection))
const query = readQuery(Schema.Struct({ ...selection, ...listQuery }))

/** In a query a bare + is a space. */
const withPlus = (filter: SmsFilter): SmsFilter => ({ ...filter, to: filter.to.trim().replace(/^(?=\d)/, "+") })

const all = { to: "", from: "", text: "", q: "" }

const routes = Effect.gen(function*() {
  const repo = yield* SandboxSmsRepo
  const { answer, route } = yield* LocalPage.partOf(parts.sms)
  const waitFor = yield* makeWaitFor

  const list = Effect.gen(function*() {
    const { page, per_page, wait, ...given } = yield* query
    const filter = withPlus(given)
    const rows = yield* waitFor(repo.list({ filter, ...window({ page, per_page }) }), {
      seconds: wait,
      isFound: (found) => found.some((sms) => sms.parts_received === sms.parts)
    })
    const { total } = yield* repo.total(filter)
    return yield* answer(
      { data: rows, meta: { total, page, per_page } },
      () => smsListPage({ rows, total, page, per_page, filter })
    )
  })

  const one = Effect.gen(function*() {
    const [sms] = yield* repo.list({ filter: { ...all, id: yield* numberIn("id") }, limit: 1, offset: 0 })
    return sms === undefined ? yield* new NotFound() : yield* answer({ data: sms }, () => smsPage(sms))
  })

  const removeAll = Effect.flatMap(select, (given) => repo.remove(withPlus(given)))
  const remove = Effect.gen(function*() {
    const removed = yield* repo.remove({ ...all, id: yield* numberIn("id") })
    return removed.deleted > 0 ? removed : yield* new NotFound()
  })
  const answerDeleted = (data: { readonly deleted: number }) => HttpServerResponse.jsonUnsafe({ data })
  const toList = LocalPage.redirect(path)

  return [
    route("GET", "", list),
    route("GET", "/:id", one),
    route("DELETE", "", Effect.map(removeAll, answerDeleted)),
    route("DELETE", "/:id", Effect.map(remove, answerDeleted)),
    route("POST", "/delete", Effect.as(removeAll, toList)),
    route("POST", "/:id/delete", Effect.as(remove, toList))
  ]
})

/** The texts of the phones for people and for curl, as a page and as JSON (`Accept: application/json`). */
export const SandboxSmsHttp = HttpRouter.addAll(routes).pipe(
  Layer.provide([SandboxSmsRepo.layer, SandboxAccess.layer])
)
