import { Clock, Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac, timingSafeEqual } from "node:crypto"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { PersonId } from "../values/Ids.ts"
import type { Authenticated } from "./People.ts"
import { hasSecondFactor, PeopleRepo, personColumns, personTables } from "./PeopleRepo.ts"
import { type Method, SignedIn, SignIn } from "./Person.ts"

/** Begins the tokens of sign-ins and of logins, so that scanners find both. */
export const loginPrefix = "lt_live_"

/** The most sign-ins of a person. The next one ends the oldest. */
const maxSignIns = 100

const Opened = Schema.Struct({ id: Schema.Int })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(personColumns)
  const tables = sql.literal(personTables)

  /** Waits for a change of the password, which ends the sign-ins that it finds. */
  const insert = Query.findOneOption({
    Request: Schema.Struct({
      tokenHash: Schema.Uint8Array,
      personId: Schema.Int,
      passwordHash: Schema.UndefinedOr(Schema.String),
      methods: Schema.Array(Schema.String),
      address: Schema.String,
      agent: Schema.String
    }),
    Result: Opened,
    execute: ({ address, agent, methods, passwordHash, personId, tokenHash }) =>
      sql`with account as (
          select password_hash from accounts where id = (select account_id from people where id = ${personId}) for share
        ), person as (
          update people set last_sign_in_at = now() where id = ${personId}
            and (${passwordHash ?? null}::text is null
              or coalesce((select password_hash from account), password_hash) = ${passwordHash ?? null})
          returning id
        )
        insert into login_sessions (token_hash, person_id, methods, proved_at, renewed_at, expires_at, client_address,
          user_agent)
        select ${tokenHash}::bytea, id, ${column.text(methods)}, now(), now(), now() + interval '30 days',
          nullif(${address}, ''), nullif(${agent}, '') from person
        returning id`
  })

  const trim = (personId: PersonId) =>
    Query.run(sql`delete from login_sessions where id in (
      select id from login_sessions where person_id = ${personId} order by id desc offset ${maxSignIns})`)

  /** Sign-ins that work. An operator's ends after 12 idle hours, all others after 14 idle days. */
  const open = sql`login_sessions s join people q on q.id = s.person_id and s.expires_at > now()
    and coalesce(s.last_used_at, s.created_at)
      > now() - case when q.is_operator then interval '12 hours' else interval '14 days' end`

  const find = Query.findOneOption({
    Request: Schema.Uint8Array,
    Result: SignedIn,
    execute: (hash) =>
      sql`select s.id as sign_in_id, s.expires_at, s.methods,
          s.token_hash = ${hash} and coalesce(s.proved_at > now() - interval '10 minutes', false) as is_fresh,
          s.token_hash = ${hash} and coalesce(s.renewed_at < now() - interval '24 hours', true) as is_due,
          coalesce(s.last_used_at < now() - interval '1 minute', true) as is_stale,
          ${hasSecondFactor(sql, sql.literal("s.person_id"))} as has_second_factor,
          (select to_jsonb(one) from (select ${columns} from ${tables} where p.id = s.person_id) one) as person,
          coalesce((select jsonb_agg(jsonb_build_object('id', o.id, 'name', o.name, 'role', m.role, 'plan', o.plan,
              'awaits_confirmation', o.awaits_confirmation,
              'has_test_mode', exists (select from accounts x where x.id = -o.id), 'trial', case when o.trial_ends_at is null then 'none'
                when o.trial_ends_at > now() then 'running' else 'over' end) order by o.id)
            from memberships m join accounts o on o.id = m.account_id and o.deleted_at is null
            where m.person_id = s.person_id), '[]'::jsonb) as accounts
        from ${open} where s.token_hash = ${hash} or (s.previous_hash = ${hash} and s.previous_until > now())`
  })

  const list = Query.findAll({
    Request: PersonId,
    Result: SignIn,
    execute: (personId) =>
      sql`select s.id, s.created_at, s.last_used_at, s.expires_at, s.client_address, s.user_agent, s.methods
        from ${open} where s.person_id = ${personId} order by s.id desc`
  })

  const removeOthers = (personId: PersonId, current: number | undefined) =>
    Query.rowCount(sql`delete from login_sessions
      where person_id = ${personId} and id is distinct from ${current ?? null}::bigint returning 1`)

  /** Of several proofs at once, each gets a token, and the last one stays. */
  const prove = (id: number, next: Uint8Array) =>
    Query.run(sql`update login_sessions set token_hash = ${next}, previous_hash = token_hash,
        previous_until = now() + interval '1 minute', renewed_at = now(), proved_at = now()
      where id = ${id} and person_id is not null`)

  const touch = (id: number) =>
    Query.run(sql`update login_sessions set last_used_at = now() where id = ${id} and person_id is not null`)

  /** Of several requests that renew a token at once, one does. */
  const renew = Query.findOneOption({
    Request: Schema.Struct({ id: Schema.Int, next: Schema.Uint8Array }),
    Result: Opened,
    execute: ({ id, next }) =>
      sql`update login_sessions set token_hash = ${next}, previous_hash = token_hash,
          previous_until = now() + interval '1 minute', renewed_at = now()
        where id = ${id} and person_id is not null and renewed_at < now() - interval '24 hours' returning id`
  })

  const remove = (personId: PersonId, id: number) =>
    Query.rowCount(sql`delete from login_sessions where id = ${id} and person_id = ${personId} returning 1`)

  return { insert, trim, find, list, touch, renew, prove, remove, removeOthers }
})

/** The sign-ins of people: one for each browser. No node caches them, so that an end holds everywhere at once. */
export class SignIns extends Context.Service<SignIns, {
  /**
   * Opens a sign-in of 30 days, whose person has just proved their identity. Nothing if they have another password than the one
   * that was checked, because who changed it may have ended all sign-ins.
   */
  readonly open: (
    personId: PersonId,
    methods: ReadonlyArray<Method>,
    passwordHash?: string
  ) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Says for ten minutes that a person has given the right password, while it is theirs, and owes the second factor. */
  readonly halfway: (authenticated: Authenticated) => Effect.Effect<string>
  /** What {@link halfway} says. */
  readonly authenticatedBy: (step: string) => Effect.Effect<Option.Option<Authenticated>>
  /** The sign-in of a token. Records its use at most once a minute. */
  readonly find: (token: string) => Effect.Effect<Option.Option<SignedIn>>
  /** A new token for a sign-in whose token is a day old. The old one works for another minute. */
  readonly renew: (id: number) => Effect.Effect<Option.Option<Redacted.Redacted>>
  /** Newest first, without those that ended by time or idleness. */
  readonly list: (personId: PersonId) => Effect.Effect<ReadonlyArray<SignIn>>
  /** A new token for a sign-in whose person has just proved their identity again. */
  readonly prove: (id: number) => Effect.Effect<Redacted.Redacted>
  /** Ends all sign-ins of a person but the current one, if there is one. Returns how many. */
  readonly endOthers: (personId: PersonId, current: number | undefined) => Effect.Effect<number>
  /** Once it returns, no node accepts the token. False if there is no such sign-in. */
  readonly end: (personId: PersonId, id: number) => Effect.Effect<boolean>
}>()("messaging-service/people/SignIns") {
  static readonly layer = Layer.effect(
    SignIns,
    Effect.gen(function*() {
      const { console: key } = yield* MacKeys
      const repo = yield* makeRepo
      const people = yield* PeopleRepo
      const macOf = (text: string, passwordHash: string) =>
        createHmac("sha256", key).update(`second step ${text} ${passwordHash}`).digest("base64url")
      return SignIns.of({
        open: Effect.fn("SignIns.open")(function*(personId, methods, passwordHash) {
          const token = Tokens.mint(loginPrefix)
          const { clientAddress: address, userAgent: agent } = yield* RequestContext
          const opened = yield* repo.insert({
            tokenHash: Tokens.hash(token),
            personId,
            passwordHash,
            methods,
            address,
            agent
          })
          yield* repo.trim(personId)
          return Option.map(opened, () => Redacted.make(token))
        }),
        halfway: ({ passwordHash, person }) =>
          Effect.map(Clock.currentTimeMillis, (now) => {
            const text = `${person}.${now + 10 * 60_000}`
            return `${text}.${macOf(text, passwordHash)}`
          }),
        authenticatedBy: Effect.fn("SignIns.authenticatedBy")(function*(step) {
          const [text, id, end, mac = ""] = /^([1-9]\d{0,14})\.(\d{1,15})(?=\.([\w-]+)$)/.exec(step) ?? []
          if (text === undefined || Number(end) <= (yield* Clock.currentTimeMillis)) return Option.none()
          const person = PersonId.make(Number(id))
          const found = yield* people.password(person)
          return Option.map(
            Option.filter(Option.flatMapNullishOr(found, ({ password_hash }) => password_hash), (passwordHash) => {
              const right = Buffer.from(macOf(text, passwordHash))
              return mac.length === right.length && timingSafeEqual(Buffer.from(mac), right)
            }),
            (passwordHash) => ({ person, passwordHash })
          )
        }),
        find: Effect.fn("SignIns.find")(function*(token) {
          if (!Tokens.isWellFormed(loginPrefix, token)) return Option.none()
          const found = yield* repo.find(Tokens.hash(token))
          if (Option.isSome(found) && found.value.is_stale) yield* repo.touch(found.value.sign_in_id)
          return found
        }),
        renew: Effect.fn("SignIns.renew")(function*(id) {
          const token = Tokens.mint(loginPrefix)
          const renewed = yield* repo.renew({ id, next: Tokens.hash(token) })
          return Option.map(renewed, () => Redacted.make(token))
        }),
        list: (personId) => repo.list(personId),
        prove: Effect.fn("SignIns.prove")(function*(id) {
          const token = Tokens.mint(loginPrefix)
          yield* repo.prove(id, Tokens.hash(token))
          return Redacted.make(token)
        }),
        endOthers: (personId, current) => repo.removeOthers(personId, current),
        end: (personId, id) => Effect.map(repo.remove(personId, id), (count) => count > 0)
      })
    })
  ).pipe(Layer.provide(PeopleRepo.layer))
}
