import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { People } from "../people/People.ts"
import { SetupLinks } from "../people/SetupLinks.ts"
import * as Passwords from "../platform/crypto/Passwords.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { ValidationFailed, type Violation } from "../platform/http/ApiErrors.ts"
import { violationsOf } from "../platform/http/violations.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { AccountId, type PersonId } from "../values/Ids.ts"
import { Locale, Timezone } from "../values/Locale.ts"
import { lineBetween } from "../values/Text.ts"
import { NewPassword } from "./AccountApi.ts"
import { TokenExpired } from "./AccountErrors.ts"
import { Accounts } from "./Accounts.ts"
import { passwordViolations, refuseAll } from "./passwordFault.ts"

/** What the first operator says of themselves. */
const Wanted = Schema.Struct({
  name: lineBetween(1, 200),
  email: EmailAddress,
  password: NewPassword,
  locale: Locale,
  timezone: Timezone
})
type Wanted = typeof Wanted.Type

const decode = Schema.decodeUnknownEffect(Wanted, { errors: "all" })

const failed = (errors: ReadonlyArray<Violation>) => new ValidationFailed({ param: errors[0]?.param ?? "", errors })

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** The oldest account, if it has no password: the first start has made it for the person who sets the service up. */
  const claim = Query.findOneOption({
    Request: Schema.Struct({ wanted: Wanted, hash: Schema.String }),
    Result: Schema.Struct({ id: AccountId }),
    execute: ({ hash, wanted: { email, locale, timezone } }) =>
      sql`update accounts set email = ${email}, password_hash = ${hash}, locale = ${locale}, timezone = ${timezone}
        where id = (select min(id) from accounts where deleted_at is null and id > 0) and password_hash is null
        returning id`
  })
  return { claim }
})

/** Lets the first operator in, by a setup link. */
export class FirstOperator extends Context.Service<FirstOperator, {
  /**
   * Makes the person the operator, and the owner of the first account: of the one that the start has made, or of a new one.
   * If an account has their address, its password makes its owner the operator instead. The link ends.
   */
  readonly create: (token: string, wanted: unknown) => Effect.Effect<PersonId, TokenExpired | ValidationFailed>
}>()("messaging-service/accounts/FirstOperator") {
  static readonly layer = Layer.effect(
    FirstOperator,
    Effect.gen(function*() {
      const { transaction } = yield* Database
      const accounts = yield* Accounts
      const people = yield* People
      const links = yield* SetupLinks
      const repo = yield* makeRepo

      /** The account of a person whose address no account has. */
      const claimed = Effect.fnUntraced(function*(wanted: Wanted, hash: string) {
        const found = yield* repo.claim({ wanted, hash })
        if (Option.isSome(found)) return found.value.id
        const { email, locale, name, password, timezone } = wanted
        const made = yield* accounts.create({
          name,
          email,
          password: Redacted.make(password),
          plan: "business",
          trial: false,
          locale,
          timezone
        }).pipe(Effect.orDie)
        return made.id
      })

      const create = Effect.fn("FirstOperator.create")(function*(token: string, given: unknown) {
        const wanted = yield* Effect.mapError(decode(given), ({ issue }) => failed(violationsOf(issue)))
        const { email, name, password } = wanted
        const known = yield* people.byEmail(email)
        if (Option.isSome(known) && Option.isNone(yield* people.authenticate(email, password))) {
          return yield* ValidationFailed.of(
            "password",
            "is not the password of the account with this address",
            "wrong_password"
          )
        }
        if (Option.isNone(known)) yield* refuseAll(yield* passwordViolations({ password }, { name, email }))
        const hash = yield* Passwords.hash(password)
        return yield* transaction(Effect.gen(function*() {
          if (!(yield* links.use(token))) return yield* new TokenExpired()
          const person = Option.isSome(known) ? known.value : yield* people.ofAccount(yield* claimed(wanted, hash))
          yield* people.makeOperator(person, name)
          return person
        }))
      })
      return FirstOperator.of({ create })
    })
  )
}
