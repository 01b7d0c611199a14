import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { AccountId, PersonId } from "../values/Ids.ts"
import { Member, Person, type PersonChange } from "./Person.ts"

/** The columns of a {@link Person}, from {@link personTables}. The row of the account describes its owner. */
export const personColumns = `p.id, p.account_id, coalesce(p.name, a.name) as name, coalesce(p.email, a.email) as email,
  coalesce(p.locale, a.locale) as locale, coalesce(p.timezone, a.timezone) as timezone, p.is_operator, p.theme,
  p.hour_cycle, p.has_shortcuts, p.last_account_id`

export const personTables = "people p left join accounts a on a.id = p.account_id"

/** Whether a person has a passkey or an authenticator app. */
export const hasSecondFactor = (sql: SqlClient.SqlClient, person: Statement.Fragment) =>
  sql`(exists (select from passkeys k where k.person_id = ${person})
    or exists (select from authenticators t where t.person_id = ${person} and t.confirmed_at is not null))`

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const columns = sql.literal(personColumns)
  const tables = sql.literal(personTables)

  const find = Query.findOneOption({
    Request: PersonId,
    Result: Person,
    execute: (id) => sql`select ${columns} from ${tables} where p.id = ${id} and a.deleted_at is null`
  })

  /** The person whom an account's row describes. */
  const owner = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ id: PersonId }),
    execute: (accountId) => sql`select id from people where account_id = ${accountId}`
  })

  /** Makes the owner of an account. Nothing if another request has just done it. */
  const makeOwner = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ id: PersonId }),
    execute: (accountId) =>
      sql`with made as (
          insert into people (account_id) values (${accountId}) on conflict (account_id) do nothing returning id
        )
        insert into memberships (account_id, person_id, role) select ${accountId}, id, 'owner' from made
        returning person_id as id`
  })

  /**
   * The account whose owner has an address, or the person without an account who has it. Lowers what was typed as LoginGuesses
   * counts it: a database lowers some letters to ASCII, such as `İ`.
   */
  const byEmail = Query.findOneOption({
    Request: Schema.String,
    Result: Schema.Struct({
      account_id: Schema.NullOr(AccountId),
      person_id: Schema.NullOr(PersonId),
      password_hash: Schema.NullOr(Schema.String)
    }),
    execute: (email) =>
      sql`select id as account_id, null as person_id, password_hash from accounts
          where lower(email) = ${email.toLowerCase()} and deleted_at is null
        union all
        select null, id, password_hash from people where lower(email) = ${email.toLowerCase()}
        limit 1`
  })

  const members = Query.findAll({
    Request: AccountId,
    Result: Member,
    execute: (accountId) =>
      sql`select p.id, coalesce(p.name, a.name) as name, coalesce(p.email, a.email) as email, m.role, m.created_at,
          ${hasSecondFactor(sql, sql.literal("p.id"))} as has_second_factor,
          p.last_sign_in_at
        from memberships m join people p on p.id = m.person_id left join accounts a on a.id = p.account_id
        where m.account_id = ${accountId} order by m.created_at, p.id`
  })

  /** The owner of an account, if a password alone does not prove them. */
  const guarded = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ id: PersonId }),
    execute: (accountId) =>
      sql`select p.id from people p where p.account_id = ${accountId}
        and ${hasSecondFactor(sql, sql.literal("p.id"))}`
  })

  /** The language and the zone of an account's owner are the account's. */
  const change = Effect.fnUntraced(function*(id: PersonId, wanted: PersonChange) {
    yield* Query.run(sql`update people p set name = ${wanted.name}, theme = ${wanted.theme},
        hour_cycle = ${wanted.hour_cycle}, has_shortcuts = ${wanted.has_shortcuts},
        locale = case when p.account_id is null then ${wanted.locale}::text end,
        timezone = case when p.account_id is null then ${wanted.timezone}::text end
      where p.id = ${id}`)
    yield* Query.run(sql`update accounts set locale = ${wanted.locale}, timezone = ${wanted.timezone}
      where id = (select account_id from people where id = ${id})`)
  })

  const password = Query.findOneOption({
    Request: PersonId,
    Result: Schema.Struct({ password_hash: Schema.NullOr(Schema.String) }),
    execute: (id) =>
      sql`select coalesce(p.password_hash, a.password_hash) as password_hash from ${tables}
        where p.id = ${id} and a.deleted_at is null`
  })

  const hasOperator = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ exists: Schema.Boolean }),
    execute: () => sql`select exists (select from people where is_operator)`
  })

  const canSignIn = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ exists: Schema.Boolean }),
    execute: () =>
      sql`select exists (select from accounts where password_hash is not null and deleted_at is null)
        or exists (select from people where password_hash is not null) as exists`
  })

  const makeOperator = (id: PersonId, name: string | null) =>
    Query.run(sql`update people set is_operator = true, name = coalesce(${name}::text, name) where id = ${id}`)

  const visit = (id: PersonId, accountId: AccountId) =>
    Query.run(sql`update people set last_account_id = ${accountId} where id = ${id}`)

  return {
    find,
    owner,
    makeOwner,
    byEmail,
    members,
    guarded,
    change,
    password,
    canSignIn,
    hasOperator,
    makeOperator,
    visit
  }
})

/** SQL of `people` and `memberships`. */
export class PeopleRepo extends Context.Service<PeopleRepo>()("messaging-service/people/PeopleRepo", { make }) {
  static readonly layer = Layer.effect(PeopleRepo, make)
}
