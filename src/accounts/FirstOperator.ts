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

/** The address of the account that the first start makes, until a person sets the service up. */
export const firstAddress = EmailAddress.make("owner@localhost.localdomain")

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const isClaimable = sql.literal("password_hash is null and deleted_at is null and id > 0")

  /** Whether an account has this address, and no password yet. */
  const isOpen = Query.findOne({
    Request: EmailAddress,
    Result: Schema.Struct({ is_open: Schema.Boolean }),
    execute: (email) =>
      sql`select exists (select from accounts where lower(email) = lower(${email}) and ${isClaimable}) as is_open`
  })

  /** The account of the person's own address, or the one that the first start has made for them. */
  const claim = Query.findOneOption({
    Request: Schema.Struct({ wanted: Wanted, hash: Schema.String }),
    Result: Schema.Struct({ id: AccountId }),
    execute: ({ hash, wanted: { email, locale, timezone } }) =>
      sql`update accounts set email = ${email}, password_hash = ${hash}, locale = ${locale}, timezone = ${timezone}
        where id = (select id from accounts where lower(email) in (lower(${email}), ${firstAddress}) and ${isClaimable}
          order by lower(email) = ${firstAddress} limit 1)
        returning id`
  })
  return { isOpen, claim }
})

/** Lets the first operator in, by a setup link. */
export class FirstOperator extends Context.Service<FirstOperator, {
  /**
   * Makes the person the operator, and the owner of an account: of the one with their address, of the one that the start has
   * made, or of a new one. If the account with their address has a password already, they need it. The link ends.
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

      /** The account of a person who has no password yet. */
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
        // An account without a password is one that this person has made on the command line.
        const { is_open: isOpen } = yield* repo.isOpen(email)
        const known = isOpen ? Option.none() : yield* people.byEmail(email)
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
