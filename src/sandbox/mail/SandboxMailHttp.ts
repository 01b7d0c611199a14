import { Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { attachment } from "../../platform/http/answerInTime.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import * as LocalPage from "../pages/LocalPage.ts"
import { numberIn, readQuery } from "../pages/query.ts"
import { parts, SandboxAccess } from "../pages/SandboxAccess.ts"
import { makeWaitFor } from "../pages/waitFor.ts"
import { conditionsOf, MailQuery, MailSelection } from "./MailFilter.ts"
import { mailListPage } from "./MailListPage.ts"
import { mailPage, mailPolicies, markupOf } from "./MailPage.ts"
import { type ReadMail, readMail } from "./readMail.ts"
import { SandboxInbox } from "./SandboxInbox.ts"
import type { SandboxMail } from "./SandboxInboxRepo.ts"
import { SandboxMailServer } from "./SandboxMailServer.ts"

const { path } = parts.mail

const select = readQuery(MailSelection)
const query = readQuery(MailQuery)

/** A mail as JSON. Each file has its own path. */
const asJson = ({ raw, ...summary }: SandboxMail, { attachments, ...content }: ReadMail) => ({
  ...summary,
  size: raw.length,
  ...content,
  attachments: attachments.map(({ content: { length }, name, type }, index) => ({
    name,
    type,
    bytes: length,
    url: `${path}/${summary.id}/files/${index + 1}`
  }))
})

const sourceHeaders = { "content-security-policy": mailPolicies.source, "x-content-type-options": "nosniff" }

const showMarkup = ({ raw }: SandboxMail) =>
  Effect.map(readMail(raw), ({ html = "" }) => LocalPage.respond(markupOf(html), mailPolicies.markup))

const showSource = ({ raw }: SandboxMail) =>
  Effect.succeed(
    HttpServerResponse.uint8Array(raw, { contentType: "text/plain; charset=utf-8", headers: sourceHeaders })
  )

/** A file to download, never to show: its type is what the mail says. */
const download = Effect.fnUntraced(function*({ raw }: SandboxMail) {
  const { attachments } = yield* readMail(raw)
  const file = attachments[(yield* numberIn("file")) - 1]
  if (file === undefined) return yield* new NotFound()
  return HttpServerResponse.uint8Array(file.content, {
    contentType: "application/octet-stream",
    headers: { ...sourceHeaders, "content-disposition": attachment(file.name) }
  })
})

const makeReads = Effect.gen(function*() {
  const inbox = yield* SandboxInbox
  const { port: smtpPort } = yield* SandboxMailServer
  const { answer, route } = yield* LocalPage.partOf(parts.mail)

  const waitFor = yield* makeWaitFor

  const mailById = Effect.gen(function*() {
    const mail = yield* inbox.get(yield* numberIn("id"))
    return Option.isSome(mail) ? mail.value : yield* new NotFound()
  })

  const list = Effect.gen(function*() {
    const { page, per_page, wait, ...selection } = yield* query
    const found = yield* waitFor(inbox.list({ conditions: conditionsOf(selection), page, per_page }), {
      seconds: wait,
      isFound: ({ rows }) => rows.length > 0
    })
    const { rows: data, total, unread } = found
    return yield* answer(
      { data, meta: { total, unread, page, per_page } },
      () => mailListPage({ ...found, selection, page, per_page, smtpPort })
    )
  })

  const one = Effect.gen(function*() {
    const mail = yield* mailById
    const content = yield* readMail(mail.raw)
    yield* inbox.markRead(mail.id)
    return yield* answer({ data: asJson(mail, content) }, () => mailPage(mail, content))
  })

  return [
    route("GET", "", list),
    route("GET", "/:id", one),
    route("GET", "/:id/html", Effect.flatMap(mailById, showMarkup)),
    route("GET", "/:id/raw", Effect.flatMap(mailById, showSource)),
    route("GET", "/:id/files/:file", Effect.flatMap(mailById, download))
  ]
})

const makeChanges = Effect.gen(function*() {
  const inbox = yield* SandboxInbox
  const { route } = yield* LocalPage.partOf(parts.mail)
  const answerDeleted = (deleted: number) => HttpServerResponse.jsonUnsafe({ data: { deleted } })
  const toList = LocalPage.redirect(path)

  const removeAll = Effect.flatMap(select, (selection) => inbox.removeAll(conditionsOf(selection)))
  const remove = Effect.gen(function*() {
    return (yield* inbox.remove(yield* numberIn("id"))) ? 1 : yield* new NotFound()
  })

  return [
    route("DELETE", "", Effect.map(removeAll, answerDeleted)),
    route("DELETE", "/:id", Effect.map(remove, answerDeleted)),
    route("POST", "/delete", Effect.as(removeAll, toList)),
    route("POST", "/:id/delete", Effect.as(remove, toList)),
    route("POST", "/read", Effect.as(inbox.markAllRead, toList))
  ]
})

/**
 * The inbox for people and for curl: the list, one mail, its markup for a frame, its source and its files. The list and a
 * mail are also served as JSON (`Accept: application/json`).
 */
export const SandboxMailHttp = HttpRouter.addAll(
  Effect.map(Effect.all([makeReads, makeChanges]), (routes) => routes.flat())
).pipe(Layer.provide(SandboxAccess.layer))
