/** Stands before every page: finds the person and the account, checks forms, and answers every request with a page. */
import { ByteSize, Context, Effect, identity, Layer, Schema, type Scope, Semaphore, Stream } from "effect"
import { HttpIncomingMessage, type HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import { People } from "../../people/People.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { AroundWaits } from "../../platform/database/Database.ts"
import { answerInTime } from "../../platform/http/answerInTime.ts"
import type { ApiError } from "../../platform/http/ApiError.ts"
import { PayloadTooLarge } from "../../platform/http/ApiErrors.ts"
import { BodyMemory } from "../../platform/http/MemoryBudget.ts"
import { limitPerMinute, RateLimit } from "../../platform/http/RateLimit.ts"
import type { AccountId } from "../../values/Ids.ts"
import { allows, type Need } from "../../values/Permission.ts"
import { type Action, Refused, refusedBy } from "../page/Action.ts"
import {
  type AccountAsk,
  type Ask,
  type Attempt,
  type Drawn,
  isOfPerson,
  lacksFactor,
  type PersonAsk,
  withQuery
} from "../page/Ask.ts"
import type { AccountPage, AnyPage, PersonPage } from "../page/Page.ts"
import { askedOf, attemptOf } from "../page/refusals.ts"
import { actionField, confirmation, insteadField } from "../ui/form.ts"
import { Answers, follow, redirect } from "./Answers.ts"
import { isOwnPage } from "./genuine.ts"
import { Proofs } from "./Proofs.ts"
import { type Visit, Visits } from "./Visits.ts"

type Response = HttpServerResponse.HttpServerResponse

/** Live rows, or those of test keys. */
export type Mode = AccountAsk["mode"]

/** The largest form of an account. Percent-encoding makes three bytes of one, and a template may have 1 MiB. */
const maxBytes = 8 * 1024 * 1024

/** The largest form outside an account. */
const maxOwnBytes = 64 * 1024

const isRefused = Schema.is(Refused)

/** One page is read at a time for so many connections of the requests' pool. */
const share = 5

const ofAccount = (person: PersonAsk, account: AccountAsk["account"], mode: Mode): AccountAsk => ({
  ...person,
  account,
  mode,
  // The id of a shadow is the account's with a minus.
  accountId: (mode === "test" ? -account.id : account.id) as AccountId,
  to: (path) => `/console/${account.id}${mode === "test" ? "/test" : ""}${path === "" ? "/" : path}`,
  can: (permission) => allows(account.role, permission)
})

/** The fields of a form in which a person typed something, or none. A password is typed once more. */
const typedIn = <R>({ actions = [] }: AnyPage<R>, form: URLSearchParams): ReadonlyArray<[string, string]> => {
  const name = form.get(actionField) ?? ""
  const fields = actions.find((action) => action.name === name)?.fields ?? {}
  const sent = [...form].filter(([field]) => fields[field] !== undefined && fields[field].kind !== "password")
  const isTyped = sent.some(([field, value]) => fields[field]?.kind !== "hidden" && value !== "")
  return isTyped ? [[actionField, name], ...sent] : []
}

/** What a page does, once its request is allowed. */
interface Performed<A extends Ask, R> {
  readonly actions: ReadonlyArray<Action<A, R>>
  readonly show: (ask: A) => Effect.Effect<Drawn, ApiError, R>
  /** The answer to a form that the person may not send. */
  readonly forbids: (action: Action<A, R>) => Effect.Effect<Response> | undefined
}

/**
 * Leads people to pages.
 *
 * @effect-expect-leaking HttpServerRequest | RouteContext | Scope
 */
export class Gate extends Context.Service<Gate, {
  /** The answer of a page to the current request. */
  readonly serve: <R>(
    page: AnyPage<R>,
    mode: Mode
  ) => Effect.Effect<Response, never, R | HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext | Scope.Scope>
  /** The answer to a path that no page has. */
  readonly missing: Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext>
}>()("messaging-service/console/gate/Gate") {
  static readonly layer = Layer.effect(
    Gate,
    Effect.gen(function*() {
      const visits = yield* Visits
      const answers = yield* Answers
      const people = yield* People
      const proofs = yield* Proofs
      const limits = yield* RateLimit
      const memory = yield* BodyMemory
      const { databaseConnections, rateLimitPages } = yield* AppConfig
      // A page has up to three connections at a time. The other pages wait here, without one.
      const readers = yield* Semaphore.make(Math.max(1, Math.floor(databaseConnections / share)))
      /** A page that waits for something else, such as a code to scan, lets another one read meanwhile. */
      const aside = <A, E, R>(wait: Effect.Effect<A, E, R>) =>
        Effect.acquireUseRelease(
          readers.release(1),
          // Within this wait it has no place to give back.
          () => Effect.provideService(wait, AroundWaits, identity),
          () => readers.take(1)
        )
      const reading = <A, E, R>(read: Effect.Effect<A, E, R>) =>
        readers.withPermit(Effect.provideService(read, AroundWaits, aside))

      /** Reads and draws a page. Each portion of its file is a read, too. */
      const shown = <A extends Ask, R>({ show }: Performed<A, R>, ask: A) =>
        Effect.map(reading(show(ask)), (drawn): Drawn => {
          const { file } = drawn
          if (file === undefined || "bytes" in file) return drawn
          const lines = Stream.transformPull(file.lines, (pull) => Effect.succeed(reading(pull)))
          return { ...drawn, file: { ...file, lines } }
        })

      /** Counts a page of a sign-in. */
      const counted = ({ signedIn }: Visit) =>
        signedIn === undefined
          ? Effect.void
          : limitPerMinute(limits, { name: `pages:${signedIn.sign_in_id}`, limit: rateLimitPages })

      /** Reads a form. The scope holds its memory, on the account of its page, as that of a request to the API. */
      const formOf = Effect.fnUntraced(function*({ request }: Visit, ask: Ask) {
        const accountId = "accountId" in ask ? Number(ask.accountId) : undefined
        const limit_bytes = accountId === undefined ? maxOwnBytes : maxBytes
        const tooLarge = () => new PayloadTooLarge({ limit_bytes })
        const size = Number(request.headers["content-length"] ?? limit_bytes)
        if (size > limit_bytes) return yield* tooLarge()
        yield* memory.holdBytes(accountId ?? 0, size)
        const text = yield* request.text.pipe(
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limit_bytes)),
          // A client that disconnects interrupts the request, so no other failure is left.
          Effect.mapError(tooLarge)
        )
        return new URLSearchParams(text)
      })

      /** Runs a form. A refusal draws the page again, with the typed values. */
      const submit = Effect.fnUntraced(function*<A extends Ask, R>(visit: Visit, ask: A, page: Performed<A, R>) {
        const form = yield* formOf(visit, ask)
        const action = page.actions.find(({ name }) => name === form.get(actionField))
        if (action === undefined) return answers.problem(visit, ask, { kind: "missing" })
        const refusal = page.forbids(action)
        if (refusal !== undefined) return yield* refusal
        const drawnWith = (at: Visit, asked: A, attempt: Attempt) => {
          const attempted = { ...asked, attempt }
          return Effect.map(
            shown(page, attempted),
            // The answer to a form is a page. A file would be saved without the proof that a table waits for.
            ({ file: _, ...drawn }) => answers.page(at, attempted, { ...drawn, status: attempt.status })
          )
        }
        const again = (at: Visit, asked: A) => (refused: Refused) =>
          drawnWith(at, asked, attemptOf(ask.t, { action, form }, refused))
        const refusedAt = (at: Visit, asked: A) => (error: ApiError | Refused) =>
          Effect.flatMap(isRefused(error) ? Effect.succeed(error) : refusedBy(error), again(at, asked))
        if (!visits.isGenuine(visit, form)) {
          return yield* again(visit, ask)(Refused.of(ask.t.text("problem.crossSite.text"), { status: 403 }))
        }
        if (form.has(insteadField)) {
          return yield* Effect.matchEffect(counted(visit), {
            onFailure: refusedAt(visit, ask),
            onSuccess: () => drawnWith(visit, ask, askedOf({ action, form }))
          })
        }
        return yield* Effect.matchEffect(proofs.before(action, visit, form), {
          onFailure: refusedAt(visit, ask),
          // The browser gets the token of a proof also if the form is refused.
          onSuccess: (at) => {
            const asked = at.signedIn === undefined ? ask : { ...ask, signedIn: at.signedIn }
            return Effect.catch(
              Effect.map(
                action.run(form, asked),
                (next) => next._tag === "Go" ? follow(at, next) : answers.page(at, asked, next.page)
              ),
              refusedAt(at, asked)
            )
          }
        })
      })

      const perform = <A extends Ask, R>(visit: Visit, ask: A, page: Performed<A, R>) =>
        answers.guarded(
          visit,
          ask,
          visit.request.method === "POST"
            ? Effect.scoped(submit(visit, ask, page))
            : Effect.flatMap(
              shown(page, ask),
              (drawn) => {
                if (drawn.leadsTo !== undefined) return Effect.succeed(redirect(visit, drawn.leadsTo, 302))
                // A table takes many rows out of the service. The proof leads back to its page.
                const isTable = drawn.file !== undefined && drawn.file.type === undefined
                if (isTable && isOfPerson(ask) && !ask.signedIn.is_fresh) {
                  return Effect.succeed(redirect(visit, confirmation(withQuery(ask, { format: null })), 302))
                }
                const answer = answers.page(visit, ask, drawn)
                return drawn.file !== undefined && "bytes" in drawn.file ? answerInTime(answer) : Effect.succeed(answer)
              }
            )
        )

      const forbidsNothing = () => undefined

      const forbidden = (visit: Visit, ask: AccountAsk, permission: Need | undefined) =>
        Effect.map(people.members(ask.account.id), (members) =>
          answers.problem(visit, ask, {
            kind: "forbidden",
            role: ask.account.role,
            permission,
            members: ask.can("members:read") ? members : []
          }))

      /** A page of a person, or of an account if they have a role in it. */
      const opened = Effect.fnUntraced(function*<R>(
        visit: Visit,
        person: PersonAsk,
        { mode, page }: { readonly page: PersonPage<R> | AccountPage<R>; readonly mode: Mode }
      ) {
        const { params, signedIn } = person
        if (page.kind === "person") return yield* perform(visit, person, { ...page, forbids: forbidsNothing })
        if (lacksFactor(person)) return redirect(visit, "/console/me/security", 302)
        const account = signedIn.accounts.find(({ id }) => String(id) === params["account"])
        if (account === undefined || (mode === "test" && !account.has_test_mode)) {
          return answers.problem(visit, person, { kind: "missing" })
        }
        const whole = ofAccount(person, account, mode)
        const { role } = account
        if (!allows(role, page.permission)) return yield* forbidden(visit, whole, page.permission)
        if (signedIn.person.last_account_id !== account.id) yield* people.visit(signedIn.person.id, account.id)
        return yield* perform(visit, whole, {
          ...page,
          forbids: ({ permission }) => allows(role, permission) ? undefined : forbidden(visit, whole, permission)
        })
      })

      /** What a person typed whose sign-in ended before they sent the form. */
      const typedBefore = <R>(visit: Visit, page: AnyPage<R>) =>
        visit.request.method === "POST" && isOwnPage(visit.request.headers, visit.approach.origin)
          ? formOf(visit, visit.ask).pipe(
            Effect.map((form) => typedIn(page, form)),
            // A larger one is lost.
            Effect.orElseSucceed(() => []),
            Effect.scoped
          )
          : Effect.succeed([])

      const served = Effect.fnUntraced(function*<R>(page: AnyPage<R>, mode: Mode, arrived: Visit) {
        const visit = yield* visits.identified(arrived)
        const { ask, request, signedIn } = visit
        if (page.kind === "door") return yield* perform(visit, ask, { ...page, forbids: forbidsNothing })
        if (signedIn === undefined) {
          const typed = yield* typedBefore(visit, page)
          if (typed.length > 0) return answers.problem(visit, ask, { kind: "signedOut", typed })
          // Forms are sent to the address of their page. Nothing is left to do for one who wanted to sign out.
          const isOver = request.method === "POST" && page.path === "/sign-out"
          const next = isOver ? "" : `?next=${encodeURIComponent(request.url)}`
          return redirect(visit, `/console/sign-in${next}`, 302)
        }
        const person: PersonAsk = { ...ask, signedIn }
        // A form would lose here what was typed. Its endpoint counts it, and `submit` what asks no endpoint.
        const before = request.method === "POST" ? Effect.void : counted(visit)
        return yield* answers.guarded(visit, person, Effect.andThen(before, opened(visit, person, { page, mode })))
      })

      const missing = (arrived: Visit) =>
        Effect.map(visits.identified(arrived), (visit) => {
          const { ask, signedIn } = visit
          if (signedIn === undefined) return redirect(visit, "/console/sign-in", 302)
          const person: PersonAsk = { ...ask, signedIn }
          return answers.problem(visit, person, { kind: "missing" })
        })

      /** Where it is not known who asks, because the database is away, the answer is a page all the same. */
      const guarded = <E, R>(answer: (arrived: Visit) => Effect.Effect<Response, E, R>) =>
        Effect.flatMap(visits.arrived, (arrived) => answers.guarded(arrived, arrived.ask, answer(arrived)))

      return Gate.of({
        serve: (page, mode) => guarded((arrived) => served(page, mode, arrived)),
        missing: guarded(missing)
      })
    })
  )
}
