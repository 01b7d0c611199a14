import { Context, Effect, Layer } from "effect"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { GroupCommit } from "../platform/work/GroupCommit.ts"
import { ApiKeysRepo, type Credential } from "./ApiKeysRepo.ts"

/**
 * Finds whose credential a token is. Nothing is cached: each request asks the database, so a revocation holds on every
 * node from its commit on. What makes that cheap is that requests which arrive together are looked up together.
 */
export class Credentials extends Context.Service<Credentials, {
  /** Looks a token up, counts the request and notes, at most once a minute per key, that the key was used. */
  readonly find: (token: string) => Effect.Effect<Credential>
}>()("messaging-service/api-keys/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const repo = yield* ApiKeysRepo
      const find = yield* GroupCommit.make({
        maxSize: 500,
        concurrency: 2,
        run: Effect.fnUntraced(function*(tokens: ReadonlyArray<string>) {
          const hashes = tokens.map(Tokens.hash)
          const rows = yield* repo.credentials(hashes)
          const stale = rows.flatMap((row) => row.is_stale && row.key_id !== null ? [row.key_id] : [])
          if (stale.length > 0) yield* Effect.forkDetach(Effect.ignore(repo.touch(stale)))
          return rows
        })
      })
      return Credentials.of({ find })
    })
  ).pipe(Layer.provide(ApiKeysRepo.layer))
}
