import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { encodeBase32 } from "../platform/crypto/base32.ts"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { type SealedColumn, shortMac, Vault } from "../platform/crypto/Vault.ts"
import { column } from "../platform/database/column.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { PersonId } from "../values/Ids.ts"
import type { Method } from "./Person.ts"

/** Recovery codes of a person. */
const codeCount = 10

const placeOf = (person: PersonId) => `authenticators:${person}:seed`

/** The column of the seeds of authenticator apps. */
export const authenticatorColumn: SealedColumn = {
  table: "authenticators",
  column: "seed",
  key: [["person_id", "bigint"]],
  parts: ["person_id"],
  what: (person) => placeOf(PersonId.make(Number(person)))
}

/** Seconds for which a code of an authenticator app is shown. */
const period = 30

const library = Effect.runSync(Effect.cached(Effect.promise(() => import("otpauth"))))

/** A new authenticator app, before its first code. */
export interface Enrolment {
  /** For the QR code. */
  readonly uri: string
  /** For typing. */
  readonly secret: string
}

/** What a person can prove besides the password. */
const Factors = Schema.Struct({
  has_authenticator: Schema.Boolean,
  passkeys: Schema.Int,
  recovery_codes: Schema.Int,
  /** Names the set of recovery codes; null without one. */
  codes_made: Schema.NullOr(Schema.String)
})
export type Factors = typeof Factors.Type

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const factors = Query.findOne({
    Request: PersonId,
    Result: Factors,
    execute: (id) =>
      sql`select exists (select from authenticators where person_id = ${id} and confirmed_at is not null)
          as has_authenticator,
        (select count(*)::integer from passkeys where person_id = ${id}) as passkeys,
        (select count(*)::integer from recovery_codes where person_id = ${id}) as recovery_codes,
        (select min(xmin::text) from recovery_codes where person_id = ${id}) as codes_made`
  })

  const begin = (id: PersonId, seed: Uint8Array) =>
    Query.run(sql`insert into authenticators (person_id, seed) values (${id}, ${seed})
      on conflict (person_id) do update set seed = excluded.seed, last_step = 0 where authenticators.confirmed_at is null`)

  const seed = Query.findOneOption({
    Request: PersonId,
    Result: Schema.Struct({ seed: Schema.Uint8Array, confirmed: Schema.Boolean }),
    execute: (id) => sql`select seed, confirmed_at is not null as confirmed from authenticators where person_id = ${id}`
  })

  /** A step is taken once: of two uses of a code at once, one updates the row. */
  const take = (id: PersonId, step: number) =>
    Query.rowCount(sql`update authenticators set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now())
      where person_id = ${id} and last_step < ${step} returning 1`)

  const remove = (id: PersonId) => Query.run(sql`delete from authenticators where person_id = ${id}`)

  const useCode = (id: PersonId, hashes: ReadonlyArray<Uint8Array>) =>
    Query.rowCount(sql`delete from recovery_codes where person_id = ${id}
      and code_hash in (select code from unnest(${column.bytea(hashes)}) as code) returning 1`)

  /** Of two renewals at once, the second waits. */
  const lockCodes = (id: PersonId) =>
    Query.run(sql`select pg_advisory_xact_lock(hashtextextended(${`recovery_codes:${id}`}, 0))`)

  const dropCodes = (id: PersonId) => Query.run(sql`delete from recovery_codes where person_id = ${id}`)

  const addCodes = (id: PersonId, hashes: ReadonlyArray<Uint8Array>) =>
    Query.run(sql`insert into recovery_codes (person_id, code_hash)
      select ${id}, code from unnest(${column.bytea(hashes)}) as code`)

  return { factors, begin, seed, take, remove, useCode, lockCodes, dropCodes, addCodes }
})

/** `abcde-fghij`: 50 random bits, without characters that look alike. */
const recoveryCode = () => {
  const text = encodeBase32(randomBytes(10)).slice(0, 10)
  return `${text.slice(0, 5)}-${text.slice(5)}`
}

const lettersOf = (code: string) => code.toLowerCase().replaceAll(/[^a-z2-7]/g, "")

/** The second factors of people: codes of an authenticator app, and recovery codes. */
export class SecondFactors extends Context.Service<SecondFactors, {
  readonly of: (person: PersonId) => Effect.Effect<Factors>
  /** Makes a seed. The app counts once {@link confirm} has seen one of its codes. */
  readonly begin: (person: PersonId) => Effect.Effect<void>
  /** The seed that waits for its first code, to show it again. */
  readonly pending: (person: PersonId, label: string) => Effect.Effect<Option.Option<Enrolment>>
  /** Whether the code is right, and was not used before. */
  readonly confirm: (person: PersonId, code: string) => Effect.Effect<boolean>
  readonly removeAuthenticator: (person: PersonId) => Effect.Effect<void>
  /** What the code proves: the app, or a recovery code, which then ends. Nothing if it is wrong. */
  readonly check: (person: PersonId, code: string) => Effect.Effect<Option.Option<Method>>
  /**
   * Replaces the set of recovery codes that {@link Factors} names; nothing if another set has replaced it. Only keyed
   * hashes are stored.
   */
  readonly renewCodes: (
    person: PersonId,
    replaced: string | null
  ) => Effect.Effect<Option.Option<ReadonlyArray<string>>>
}>()("messaging-service/people/SecondFactors") {
  static readonly layer = Layer.effect(
    SecondFactors,
    Effect.gen(function*() {
      const vault = yield* Vault
      const { console: key } = yield* MacKeys
      const { transaction } = yield* Database
      const repo = yield* makeRepo

      /** With a key, because a search finds the 50 bits of a code from a plain hash. */
      const macOf = (person: PersonId, code: string) => shortMac(key, `recovery code ${person} ${lettersOf(code)}`, 32)

      const appOf = Effect.fnUntraced(function*(person: PersonId, seed: Uint8Array, label = "") {
        const { Secret, TOTP } = yield* library
        const bytes = Uint8Array.from(yield* Effect.orDie(vault.open(placeOf(person), seed)))
        return new TOTP({ issuer: "Messaging Service", label, period, secret: new Secret({ buffer: bytes.buffer }) })
      })

      const enrolmentOf = Effect.fnUntraced(function*(person: PersonId, seed: Uint8Array, label: string) {
        const app = yield* appOf(person, seed, label)
        return { uri: app.toString(), secret: app.secret.base32 }
      })

      /** A code is right for its own step, the one before and the one after. */
      const isRight = Effect.fnUntraced(function*(person: PersonId, seed: Uint8Array, code: string) {
        const app = yield* appOf(person, seed)
        const timestamp = yield* Clock.currentTimeMillis
        const delta = app.validate({ token: code.replaceAll(/\s/g, ""), timestamp, window: 1 })
        if (delta === null) return false
        return (yield* repo.take(person, Math.floor(timestamp / 1000 / period) + delta)) > 0
      })

      const check = Effect.fn("SecondFactors.check")(function*(person: PersonId, code: string) {
        if (!/^[\d\s]{6,8}$/.test(code)) {
          // Codes from before the key work until they are renewed.
          const used = yield* repo.useCode(person, [macOf(person, code), Tokens.hash(`recovery:${lettersOf(code)}`)])
          return used > 0 ? Option.some<Method>("recovery_code") : Option.none()
        }
        const found = Option.getOrUndefined(yield* repo.seed(person))
        const isCode = found?.confirmed === true && (yield* isRight(person, found.seed, code))
        return isCode ? Option.some<Method>("authenticator") : Option.none()
      })

      return SecondFactors.of({
        of: (person) => repo.factors(person),
        begin: Effect.fn("SecondFactors.begin")((person) =>
          repo.begin(person, vault.seal(placeOf(person), randomBytes(20)))
        ),
        pending: Effect.fn("SecondFactors.pending")(function*(person, label) {
          const found = Option.filter(yield* repo.seed(person), ({ confirmed }) => !confirmed)
          return Option.isNone(found) ? Option.none() : Option.some(yield* enrolmentOf(person, found.value.seed, label))
        }),
        confirm: Effect.fn("SecondFactors.confirm")(function*(person, code) {
          const found = yield* repo.seed(person)
          return Option.isSome(found) && (yield* isRight(person, found.value.seed, code))
        }),
        removeAuthenticator: (person) => repo.remove(person),
        check,
        renewCodes: Effect.fn("SecondFactors.renewCodes")(function*(person, replaced) {
          const codes = Array.from({ length: codeCount }, recoveryCode)
          return yield* transaction(Effect.gen(function*() {
            yield* repo.lockCodes(person)
            const { codes_made } = yield* repo.factors(person)
            if (codes_made !== null && codes_made !== replaced) return Option.none()
            yield* repo.dropCodes(person)
            yield* repo.addCodes(person, codes.map((code) => macOf(person, code)))
            return Option.some(codes)
          }))
        })
      })
    })
  )
}
