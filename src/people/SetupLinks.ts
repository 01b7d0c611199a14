import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../platform/crypto/Tokens.ts"
import * as Query from "../platform/database/Query.ts"

/** Begins the tokens of setup links. */
const setupPrefix = "st_"

/** Links with which the first operator comes in. Each works once, within 24 hours. */
export class SetupLinks extends Context.Service<SetupLinks, {
  /** Makes a link, and returns its token. */
  readonly make: Effect.Effect<string>
  /** Whether a link with this token works now. Changes nothing. */
  readonly isValid: (token: string) => Effect.Effect<boolean>
  /** Uses a link, in the caller's transaction. All others end with it. False if it does not work. */
  readonly use: (token: string) => Effect.Effect<boolean>
}>()("messaging-service/people/SetupLinks") {
  static readonly layer = Layer.effect(
    SetupLinks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const count = (token: string) =>
        Query.rowCount(sql`select 1 from setup_links where token_hash = ${Tokens.hash(token)} and expires_at > now()`)
      const isWellFormed = (token: string) => Tokens.isWellFormed(setupPrefix, token)
      return SetupLinks.of({
        make: Effect.gen(function*() {
          const token = Tokens.mint(setupPrefix)
          yield* Query.run(sql`insert into setup_links (token_hash, expires_at)
            values (${Tokens.hash(token)}, now() + interval '24 hours')`)
          return token
        }),
        isValid: (token) =>
          isWellFormed(token) ? Effect.map(count(token), (found) => found > 0) : Effect.succeed(false),
        use: Effect.fn("SetupLinks.use")(function*(token) {
          if (!isWellFormed(token)) return false
          // Two uses at once wait for each other: the second finds no row.
          yield* Query.run(sql`select 1 from setup_links for update`)
          if ((yield* count(token)) === 0) return false
          yield* Query.run(sql`delete from setup_links`)
          return true
        })
      })
    })
  )
}

const loopback = /^(https?:\/\/)(?:127\.0\.0\.1|\[::1\]|0\.0\.0\.0)(?=[:/]|$)/

/** The address of a setup link. Passkeys need a name, so this machine is `localhost`. */
export const setupLinkOf = (base: string, token: string): string =>
  `${base.replace(loopback, "$1localhost")}/console/setup/${token}`
