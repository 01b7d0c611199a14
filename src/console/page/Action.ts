import { Context, Effect, type Redacted, Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { type Answer, type Call, OwnCalls } from "../../platform/calls/OwnCalls.ts"
import { Access } from "../../platform/http/Access.ts"
import { type ApiError, statusOf, typeOf } from "../../platform/http/ApiError.ts"
import { Violation } from "../../platform/http/ApiErrors.ts"
import type { Permission } from "../../values/Permission.ts"
import { type Key, marked } from "../language/Messages.ts"
import type { AccountAsk, Ask, Drawn, FieldFault, PersonAsk } from "./Ask.ts"
import { Field, type Fields, type Values, valuesOf } from "./Field.ts"
import { principalOf } from "./principalOf.ts"

/** The token that this browser gets from now on; null ends its sign-in. */
export type SignInChange = Redacted.Redacted | null

/** What follows a form that did its work. */
export type Next =
  /** Another page, which shows the sentence `done` once. */
  | { readonly _tag: "Go"; readonly to: string; readonly done?: Key; readonly signIn?: SignInChange }
  /** A page without an address, such as a secret that is shown once. */
  | { readonly _tag: "Show"; readonly page: Drawn }

export const goTo = (to: string, done?: Key): Next => ({ _tag: "Go", to, ...(done !== undefined && { done }) })
export const show = (page: Drawn): Next => ({ _tag: "Show", page })

/** The numbers of an error that its text repeats. */
const facts = {
  limit: Schema.optionalKey(Schema.Finite),
  current: Schema.optionalKey(Schema.Finite),
  retry_after: Schema.optionalKey(Schema.Finite)
}

/** Why a form did not work. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  /** The API's word for it. The console's own reasons have none, and are in the reader's language. */
  type: Schema.optionalKey(Schema.String),
  reason: Schema.String,
  facts: Schema.Struct(facts),
  faults: Schema.Array(
    Schema.Struct({ param: Schema.String, message: Schema.String, type: Schema.optional(Schema.String) })
  ),
  /** What the form shows in the place of what was sent, where a part of that is done. */
  left: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
}) {
  /** A form that the console refuses by itself. */
  static of(
    reason: string,
    options: { readonly status?: number; readonly faults?: ReadonlyArray<FieldFault> } = {}
  ) {
    return new Refused({ status: 422, reason, facts: {}, faults: [], ...options })
  }

  /** The same refusal of what is left of a value, with a sentence about the part that is done. */
  leaving({ message, param, value }: FieldFault & { readonly value: string }) {
    const { facts, reason, status, type } = this
    const left = { [param]: value }
    return new Refused({
      status,
      reason,
      facts,
      faults: [{ param, message }],
      left,
      ...(type !== undefined && { type })
    })
  }
}

/** A form of a page. */
export interface Action<A extends Ask, R> {
  /** Its name within the page. */
  readonly name: string
  readonly fields: Fields
  /** The permission of the endpoint; undefined for one that needs no permission, and for the forms of doors. */
  readonly permission: Permission | undefined
  /** The endpoint behind the form, such as `POST /v1/api-keys`; undefined for the forms of doors. */
  readonly endpoint: string | undefined
  /** The person must have proved their identity in the last minutes. */
  readonly isFresh: boolean
  readonly run: (form: URLSearchParams, ask: A) => Effect.Effect<Next, Refused | ApiError, R>
  /** The call that the form makes, for its `curl`; undefined for the forms of doors. */
  readonly callOf: ((form: URLSearchParams, ask: A) => Call) | undefined
}

const ErrorBody = Schema.Struct({
  error: Schema.Struct({
    type: Schema.String,
    message: Schema.String,
    /** The field that an error other than a broken rule is about. */
    param: Schema.optionalKey(Schema.String),
    errors: Schema.optionalKey(Schema.Array(Violation)),
    ...facts
  })
})

const decodeError = Schema.decodeUnknownEffect(ErrorBody)

const refusalOf = Effect.fnUntraced(function*({ body, status }: Pick<Answer, "body" | "status">) {
  const { error: { errors, message, param, type, ...facts } } = yield* Effect.orDie(decodeError(body))
  const faults = errors ?? (param === undefined ? [] : [{ param, type, message }])
  return new Refused({ status, type, reason: message, facts, faults })
})

/** The refusal by a documented error of a service. */
export const refusedBy = (error: ApiError): Effect.Effect<Refused> =>
  refusalOf({
    status: statusOf(error),
    body: { error: { ...error, type: typeOf(error), message: error.message } }
  })

/** What the endpoint needs: its body, the parameters of its path, its query. */
interface Wanted {
  readonly payload?: unknown
  readonly params?: Readonly<Record<string, string | undefined>>
  readonly query?: Readonly<Record<string, string | undefined>>
}

interface Options<E extends HttpApiEndpoint.Top, F extends Fields> {
  readonly name: string
  readonly endpoint: E
  readonly fields: F
  readonly isFresh?: boolean
  /** The request of a form, as JSON. The endpoint validates it; its faults are shown at the fields of the same name. */
  readonly request: (form: Values<F>, ask: AccountAsk) => Wanted
  /** What follows. `isReplayed`: the same form was answered before, and a repeated answer has no secret. */
  readonly after: (
    answer: HttpApiEndpoint.Success<E>["Type"],
    context: { readonly ask: AccountAsk; readonly form: Values<F>; readonly isReplayed: boolean }
  ) => Next
}

const pathOf = (template: string, { params = {}, query = {} }: Wanted): string => {
  const path = template.replaceAll(/:([A-Za-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as [string, string]])
  )
  return search.size === 0 ? path : `${path}?${search}`
}

/** The fields of a form that cannot be undone: the name that the page gives, and the same name as a person types it. */
export const namedFields = (label: Key) => ({
  named: Field.hidden(),
  typed: Field.text({ label, autocomplete: "off" })
})

/** A name as a page shows it. */
const shown = (name: string | null) => marked(name ?? "").replaceAll(/\s+/g, " ").trim()

/** A form with these fields works only if both names are the same, so that nothing is removed by a slip. */
export const ifNamed = <R>(action: Action<AccountAsk, R>): Action<AccountAsk, R> => ({
  ...action,
  run: (sent, ask) => {
    if (shown(sent.get("typed")) === shown(sent.get("named"))) return action.run(sent, ask)
    const message = ask.t.text("form.differs")
    return Effect.fail(Refused.of(message, { faults: [{ param: "typed", message }] }))
  }
})

/** The name of the hidden field that makes a form work once. */
export const onceField = "_once"

export const Action = {
  /** A form that calls an endpoint as the signed-in person. */
  make: <E extends HttpApiEndpoint.Top, const F extends Fields>(
    options: Options<E, F>
  ): Action<AccountAsk, OwnCalls> => {
    const { endpoint, fields } = options
    const rule = Context.getOrUndefined(endpoint.annotations, Access)
    const [success] = endpoint.success
    // An endpoint without a success schema answers with an empty body.
    const decode = Schema.decodeUnknownEffect(
      (success ?? Schema.Unknown) as Schema.Codec<HttpApiEndpoint.Success<E>["Type"]>
    )
    const callOf = (form: URLSearchParams, ask: AccountAsk): Call => {
      const wanted = options.request(valuesOf(fields, form), ask)
      return {
        // The API has no other methods.
        method: endpoint.method as Call["method"],
        path: pathOf(endpoint.path, wanted),
        ...(wanted.payload !== undefined && { body: wanted.payload })
      }
    }
    return {
      name: options.name,
      fields,
      permission: rule?.kind === "account" ? rule.permission : undefined,
      endpoint: `${endpoint.method} ${endpoint.path}`,
      isFresh: options.isFresh ?? false,
      callOf,
      run: Effect.fnUntraced(function*(form: URLSearchParams, ask: AccountAsk) {
        const calls = yield* OwnCalls
        const once = form.get(onceField)
        const answer = yield* calls.call(principalOf(ask), {
          ...callOf(form, ask),
          // By the request that brought the form.
          isHeld: true,
          ...(once !== null && { once: once.slice(0, 100) })
        })
        if (answer.status >= 400) return yield* yield* refusalOf(answer)
        const body = yield* Effect.orDie(decode(answer.body))
        return options.after(body, { ask, form: valuesOf(fields, form), isReplayed: answer.isReplayed })
      })
    }
  },

  /** A form of a door or of a person's own pages: what it does needs a browser, so no endpoint does it. */
  own: <A extends Ask | PersonAsk, const F extends Fields, R = never>(options: {
    readonly name: string
    readonly fields: F
    readonly isFresh?: boolean
    readonly run: (form: Values<F>, ask: A) => Effect.Effect<Next, Refused | ApiError, R>
  }): Action<A, R> => ({
    name: options.name,
    fields: options.fields,
    permission: undefined,
    endpoint: undefined,
    isFresh: options.isFresh ?? false,
    callOf: undefined,
    run: (form, ask) => options.run(valuesOf(options.fields, form), ask)
  })
}
