import { Context, Effect, Layer, Option } from "effect"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { Database } from "../platform/database/Database.ts"
import type { AccountId, PersonId } from "../values/Ids.ts"
import { PeopleRepo } from "./PeopleRepo.ts"
import type { Member, Person, PersonChange } from "./Person.ts"

/** A person who gave the right password, and the hash that it was compared with. */
export interface Authenticated {
  readonly person: PersonId
  readonly passwordHash: string
}

/** The people who sign in. */
export class People extends Context.Service<People, {
  readonly find: (id: PersonId) => Effect.Effect<Option.Option<Person>>
  /** The owner whom an account's row describes. */
  readonly ofAccount: (accountId: AccountId) => Effect.Effect<PersonId>
  /** The person with this address, if the password is right. Takes as long for an unknown address. */
  readonly authenticate: (email: string, password: string) => Effect.Effect<Option.Option<Authenticated>>
  /** Whether this is the person's password. */
  readonly hasPassword: (id: PersonId, password: string) => Effect.Effect<boolean>
  /** The people with a role in an account, oldest first. */
  readonly members: (accountId: AccountId) => Effect.Effect<ReadonlyArray<Member>>
  /** The owner whom an account's row describes, if a password alone does not prove them. */
  readonly guarded: (accountId: AccountId) => Effect.Effect<Option.Option<PersonId>>
  readonly change: (id: PersonId, wanted: PersonChange) => Effect.Effect<void>
  /** Whether anyone runs this installation. */
  readonly hasOperator: Effect.Effect<boolean>
  /** Whether anyone has a password to sign in with. */
  readonly canSignIn: Effect.Effect<boolean>
  /** The person with an address, whether or not they have a password. */
  readonly byEmail: (email: string) => Effect.Effect<Option.Option<PersonId>>
  readonly makeOperator: (id: PersonId, name?: string) => Effect.Effect<void>
  /** Remembers the account that the person used last. */
  readonly visit: (id: PersonId, accountId: AccountId) => Effect.Effect<void>
}>()("messaging-service/people/People") {
  static readonly layer = Layer.effect(
    People,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const repo = yield* PeopleRepo

      /** An account gets its owner when that person is first needed. */
      const ofAccount = Effect.fn("People.ofAccount")(function*(accountId: AccountId) {
        const found = yield* repo.owner(accountId)
        if (Option.isSome(found)) return found.value.id
        const made = yield* repo.makeOwner(accountId)
        const owner = Option.isSome(made) ? made : yield* repo.owner(accountId)
        return (yield* Effect.orDie(Effect.fromOption(owner))).id
      })

      const personOf = Effect.fnUntraced(
        function*(row: { readonly account_id: AccountId | null; readonly person_id: PersonId | null }) {
          if (row.person_id !== null) return Option.some(row.person_id)
          return row.account_id === null ? Option.none() : Option.some(yield* ofAccount(row.account_id))
        }
      )

      return People.of({
        find: (id) => repo.find(id),
        ofAccount,
        authenticate: Effect.fn("People.authenticate")(function*(email, password) {
          const found = Option.getOrUndefined(yield* repo.byEmail(email))
          const matches = yield* Passwords.verify(password, found?.password_hash ?? null)
          const passwordHash = found?.password_hash ?? undefined
          if (found === undefined || passwordHash === undefined || !matches) return Option.none()
          return Option.map(yield* personOf(found), (person) => ({ person, passwordHash }))
        }),
        byEmail: Effect.fn("People.byEmail")(function*(email) {
          const found = yield* repo.byEmail(email)
          return Option.isNone(found) ? Option.none() : yield* personOf(found.value)
        }),
        hasPassword: Effect.fn("People.hasPassword")(function*(id, password) {
          const found = Option.getOrUndefined(yield* repo.password(id))
          return yield* Passwords.verify(password, found?.password_hash ?? null)
        }),
        members: (accountId) => repo.members(accountId),
        guarded: (accountId) => Effect.map(repo.guarded(accountId), Option.map(({ id }) => id)),
        change: Effect.fn("People.change")((id, wanted) => transaction(repo.change(id, wanted))),
        hasOperator: Effect.map(repo.hasOperator(), ({ exists }) => exists),
        canSignIn: Effect.map(repo.canSignIn(), ({ exists }) => exists),
        makeOperator: (id, name) => repo.makeOperator(id, name ?? null),
        visit: (id, accountId) => repo.visit(id, accountId)
      })
    })
  ).pipe(Layer.provide(PeopleRepo.layer))
}
