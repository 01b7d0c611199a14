import { Effect, Option, Schema } from "effect"
import type { ApiError } from "../../platform/http/ApiError.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { pathId } from "../../values/Ids.ts"
import type { Need } from "../../values/Permission.ts"
import type { IconName } from "../assets/icons.ts"
import type { Key } from "../language/Messages.ts"
import type { Action } from "./Action.ts"
import type { AccountAsk, Ask, Drawn, PersonAsk } from "./Ask.ts"

/** The groups of the navigation, in their order. The first has no heading. */
export const navigationGroups = ["", "email", "whatsapp", "sms", "verify", "webhooks", "develop", "settings"] as const

/** The entry of a page in the navigation. */
export interface Entry {
  readonly group: (typeof navigationGroups)[number]
  readonly label: Key
  readonly icon: IconName
  /** Its place within the group: lower is higher up. */
  readonly order: number
  /** The letter that opens it after `g`. No other page has it. */
  readonly key: string
}

interface Base<A extends Ask, R> {
  /** Below `/console/{account}` for a page of an account, else below `/console`. */
  readonly path: `/${string}` | ""
  readonly permission: Need | undefined
  readonly entry: Entry | undefined
  readonly actions: ReadonlyArray<Action<A, R>>
  readonly show: (ask: A) => Effect.Effect<Drawn, ApiError, R>
}

/** A page of an account. */
export interface AccountPage<R> extends Base<AccountAsk, R> {
  readonly kind: "account"
}

/** A page of the signed-in person, in no account. */
export interface PersonPage<R> extends Base<PersonAsk, R> {
  readonly kind: "person"
}

/** A page for everyone who reaches the console: the sign-in, the setup. */
export interface DoorPage<R> extends Base<Ask, R> {
  readonly kind: "door"
}

export type AnyPage<R> = AccountPage<R> | PersonPage<R> | DoorPage<R>

interface Options<A extends Ask, D, E, R, Actions> {
  readonly path: `/${string}` | ""
  readonly entry?: Entry
  /** Reads what the page shows, from the services that the endpoints' handlers call. */
  readonly read: (ask: A) => Effect.Effect<D, E, R>
  /** Draws it. Pure. */
  readonly draw: (data: D, ask: A) => Drawn
  readonly actions?: Actions
}

type Actions<A extends Ask> = ReadonlyArray<Action<A, unknown>>

/** The services that some of the actions need. */
type ServicesOf<A extends Ask, As extends Actions<A>> = As[number] extends infer One
  ? One extends Action<A, infer R> ? R : never
  : never

const base = <A extends Ask, D, E extends ApiError, R, As extends Actions<A>>(options: Options<A, D, E, R, As>) => ({
  path: options.path,
  entry: options.entry,
  // Each action needs some of these services, and `R` is what an action needs.
  actions: (options.actions ?? []) as ReadonlyArray<Action<A, ServicesOf<A, As>>>,
  show: (ask: A): Effect.Effect<Drawn, ApiError, R> => Effect.map(options.read(ask), (data) => options.draw(data, ask))
})

export const Page = {
  /** A page of an account. Its permission is that of the endpoint that gives the same data. */
  account: <D, E extends ApiError = never, R = never, const As extends Actions<AccountAsk> = readonly []>(
    options: Options<AccountAsk, D, E, R, As> & { readonly permission: Need }
  ): AccountPage<R | ServicesOf<AccountAsk, As>> => ({
    ...base(options),
    kind: "account",
    permission: options.permission
  }),
  /** A page of the signed-in person. */
  person: <D, E extends ApiError = never, R = never, const As extends Actions<PersonAsk> = readonly []>(
    options: Options<PersonAsk, D, E, R, As>
  ): PersonPage<R | ServicesOf<PersonAsk, As>> => ({ ...base(options), kind: "person", permission: undefined }),
  /** A page for everyone. */
  door: <D, E extends ApiError = never, R = never, const As extends Actions<Ask> = readonly []>(
    options: Options<Ask, D, E, R, As>
  ): DoorPage<R | ServicesOf<Ask, As>> => ({ ...base(options), kind: "door", permission: undefined })
}

/** The id of the address, by default its parameter `id`. A malformed one is missing, like an unknown one. */
export const idIn = Effect.fnUntraced(function*<A extends number>(
  { params }: Ask,
  schema: Schema.Codec<A, number>,
  name = "id"
) {
  const id = Schema.decodeUnknownOption(pathId(schema))(params[name])
  return Option.isSome(id) ? id.value : yield* new NotFound()
})
