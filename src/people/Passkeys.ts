import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { PersonId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** The site whose passkeys are meant: a host name, and the address that the browser shows. */
export interface RelyingParty {
  readonly host: string
  readonly origin: string
}

/** A passkey as its person sees it. */
export const Passkey = Schema.Struct({
  id: Schema.Int,
  name: Schema.String,
  created_at: Timestamp,
  last_used_at: Schema.NullOr(Timestamp)
})
export type Passkey = typeof Passkey.Type

const NewPasskey = Schema.Struct({
  credential: Schema.Uint8Array,
  publicKey: Schema.Uint8Array,
  counter: Schema.Int,
  transports: Schema.Array(Schema.String)
})

/** A passkey that its browser has proved. */
export type NewPasskey = typeof NewPasskey.Type

const Stored = Schema.Struct({
  id: Schema.Int,
  person_id: PersonId,
  public_key: Schema.Uint8Array,
  counter: Schema.Int,
  transports: Schema.Array(Schema.String)
})

/** The parts of a browser's answer that we read. The library checks the rest. */
const Answer = Schema.fromJsonString(
  Schema.Struct({
    id: Schema.String,
    rawId: Schema.String,
    type: Schema.Literal("public-key"),
    clientExtensionResults: Schema.Unknown,
    response: Schema.Record(Schema.String, Schema.Unknown)
  })
)

const decodeAnswer = Schema.decodeUnknownOption(Answer)

const library = Effect.runSync(Effect.cached(Effect.promise(() => import("@simplewebauthn/server"))))

const helpers = Effect.runSync(Effect.cached(Effect.promise(() => import("@simplewebauthn/server/helpers"))))

/**
 * Whether an attestation has no certificates. We ask for none, and the library fetches the revocation lists of those that it
 * gets, from the URLs in them.
 */
const hasNoCertificates = Effect.fnUntraced(function*(attestation: string) {
  const { decodeAttestationObject, isoBase64URL } = yield* helpers
  return yield* Effect.try(() => {
    const decoded = decodeAttestationObject(isoBase64URL.toBuffer(attestation))
    const format = decoded.get("fmt")
    return format === "none" || (format === "packed" && decoded.get("attStmt").get("x5c") === undefined)
  })
})

/** Minutes for which a challenge works. */
const minutes = 5

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const list = Query.findAll({
    Request: PersonId,
    Result: Passkey,
    execute: (id) => sql`select id, name, created_at, last_used_at from passkeys where person_id = ${id} order by id`
  })

  const credentials = Query.findAll({
    Request: PersonId,
    Result: Schema.Struct({ credential_id: Schema.Uint8Array }),
    execute: (id) => sql`select credential_id from passkeys where person_id = ${id}`
  })

  const find = Query.findOneOption({
    Request: Schema.Uint8Array,
    Result: Stored,
    execute: (credential) =>
      sql`select id, person_id, public_key, counter, transports from passkeys where credential_id = ${credential}`
  })

  const insert = Query.findOneOption({
    Request: Schema.Struct({ ...NewPasskey.fields, person: PersonId, name: Schema.String }),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: ({ counter, credential, name, person, publicKey, transports }) =>
      sql`insert into passkeys (person_id, credential_id, public_key, counter, transports, name)
        values (${person}, ${credential}, ${publicKey}, ${counter}, ${column.text(transports)}, ${name})
        on conflict (credential_id) do nothing returning id`
  })

  const used = (id: number, counter: number) =>
    Query.run(sql`update passkeys set counter = ${counter}, last_used_at = now() where id = ${id}`)

  const rename = (person: PersonId, id: number, name: string) =>
    Query.run(sql`update passkeys set name = ${name} where id = ${id} and person_id = ${person}`)

  const remove = (person: PersonId, id: number) =>
    Query.rowCount(sql`delete from passkeys where id = ${id} and person_id = ${person} returning 1`)

  /** A challenge works once: the second use finds its row. */
  const spend = (challenge: Uint8Array) =>
    Query.rowCount(sql`insert into passkey_challenges (challenge, expires_at)
      values (${challenge}, now() + ${minutes} * interval '1 minute') on conflict do nothing returning 1`)

  return { list, credentials, find, insert, used, rename, remove, spend }
})

/**
 * Passkeys of people. A challenge is random, has its end and a MAC, and is stored only once it is used, so that showing the
 * sign-in page writes nothing.
 */
export class Passkeys extends Context.Service<Passkeys, {
  readonly list: (person: PersonId) => Effect.Effect<ReadonlyArray<Passkey>>
  /** What a browser needs to make a passkey, as JSON. */
  readonly creation: (
    person: { readonly id: PersonId; readonly name: string; readonly email: string },
    host: string
  ) => Effect.Effect<string>
  /** What a browser needs to use one, as JSON. It names no person, so that no address is asked first. */
  readonly request: (host: string) => Effect.Effect<string>
  /** The passkey that a browser's answer proves, once. */
  readonly made: (answer: string, party: RelyingParty) => Effect.Effect<Option.Option<NewPasskey>>
  /** False if the passkey is stored already. */
  readonly add: (person: PersonId, name: string, passkey: NewPasskey) => Effect.Effect<boolean>
  /** The person whose passkey answered. */
  readonly verify: (answer: string, party: RelyingParty) => Effect.Effect<Option.Option<PersonId>>
  readonly rename: (person: PersonId, id: number, name: string) => Effect.Effect<void>
  readonly remove: (person: PersonId, id: number) => Effect.Effect<boolean>
}>()("messaging-service/people/Passkeys") {
  static readonly layer = Layer.effect(
    Passkeys,
    Effect.gen(function*() {
      const { console: key } = yield* MacKeys
      const repo = yield* makeRepo

      const macOf = (bytes: Uint8Array) => createHmac("sha256", key).update("passkey challenge").update(bytes).digest()

      const challenge = Effect.map(Clock.currentTimeMillis, (now) => {
        const end = Buffer.alloc(8)
        end.writeBigUInt64BE(BigInt(now + minutes * 60_000))
        const body = Buffer.concat([end, randomBytes(24)])
        return base64(Buffer.concat([body, macOf(body)]))
      })

      /** Whether we made a challenge in the last minutes. */
      const isOurs = (text: string, now: number) => {
        const bytes = Buffer.from(text, "base64url")
        if (bytes.length !== 64) return false
        const body = bytes.subarray(0, 32)
        return timingSafeEqual(bytes.subarray(32), macOf(body)) && Number(body.readBigUInt64BE(0)) > now
      }

      const spent = (text: string) =>
        Effect.map(repo.spend(Buffer.from(text, "base64url").subarray(0, 32)), (count) => count > 0)

      const creation = Effect.fn("Passkeys.creation")(
        function*({ email, id, name }: Parameters<Passkeys["Service"]["creation"]>[0], host: string) {
          const known = yield* repo.credentials(id)
          return JSON.stringify({
            rp: { id: host, name: "Messaging Service" },
            user: { id: base64(Buffer.from(`person:${id}`)), name: email, displayName: name },
            challenge: yield* challenge,
            pubKeyCredParams: [-8, -7, -257].map((alg) => ({ type: "public-key", alg })),
            timeout: minutes * 60_000,
            attestation: "none",
            authenticatorSelection: { residentKey: "required", userVerification: "required" },
            excludeCredentials: known.map(({ credential_id }) => ({ type: "public-key", id: base64(credential_id) }))
          })
        }
      )

      const made = Effect.fn("Passkeys.made")(function*(given: string, party: RelyingParty) {
        const answer = decodeAnswer(given)
        if (Option.isNone(answer)) return Option.none()
        const { verifyRegistrationResponse } = yield* library
        const now = yield* Clock.currentTimeMillis
        const seen: Array<string> = []
        // Its shape is unknown until the library has checked every part of it.
        const response = answer.value as unknown as RegistrationResponseJSON
        const isPlain = yield* Effect.option(hasNoCertificates(response.response.attestationObject))
        if (!Option.contains(isPlain, true)) return Option.none()
        const verified = yield* Effect.option(Effect.tryPromise(() =>
          verifyRegistrationResponse({
            response,
            expectedChallenge: (text) => {
              seen.push(text)
              return isOurs(text, now)
            },
            expectedOrigin: party.origin,
            expectedRPID: party.host,
            requireUserVerification: true
          })
        ))
        if (Option.isNone(verified) || !verified.value.verified || !(yield* spent(seen[0] ?? ""))) return Option.none()
        const { counter, id, publicKey, transports = [] } = verified.value.registrationInfo.credential
        return Option.some({ credential: Buffer.from(id, "base64url"), publicKey, counter, transports })
      })

      const verify = Effect.fn("Passkeys.verify")(function*(given: string, party: RelyingParty) {
        const answer = decodeAnswer(given)
        if (Option.isNone(answer)) return Option.none()
        const { id } = answer.value
        const found = Option.getOrUndefined(yield* repo.find(Buffer.from(id, "base64url")))
        if (found === undefined) return Option.none()
        const { verifyAuthenticationResponse } = yield* library
        const now = yield* Clock.currentTimeMillis
        const seen: Array<string> = []
        const verified = yield* Effect.option(Effect.tryPromise(() =>
          verifyAuthenticationResponse({
            // Its shape is unknown until the library has checked every part of it.
            response: answer.value as unknown as AuthenticationResponseJSON,
            expectedChallenge: (text) => {
              seen.push(text)
              return isOurs(text, now)
            },
            expectedOrigin: party.origin,
            expectedRPID: party.host,
            credential: { id, publicKey: Uint8Array.from(found.public_key), counter: found.counter },
            requireUserVerification: true
          })
        ))
        if (Option.isNone(verified) || !verified.value.verified || !(yield* spent(seen[0] ?? ""))) return Option.none()
        yield* repo.used(found.id, verified.value.authenticationInfo.newCounter)
        return Option.some(found.person_id)
      })

      return Passkeys.of({
        list: (person) => repo.list(person),
        creation,
        request: (host) =>
          Effect.map(
            challenge,
            (text) =>
              JSON.stringify({ challenge: text, rpId: host, timeout: minutes * 60_000, userVerification: "required" })
          ),
        made,
        add: (person, name, passkey) => Effect.map(repo.insert({ ...passkey, person, name }), Option.isSome),
        verify,
        rename: repo.rename,
        remove: (person, id) => Effect.map(repo.remove(person, id), (count) => count > 0)
      })
    })
  )
}
