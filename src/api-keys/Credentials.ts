import { Context, Effect, Layer } from "effect"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { GroupCommit } from "../platform/work/GroupCommit.ts"
import { ApiKeysRepo, type Credential } from "./ApiKeysRepo.ts"

/**
 * Finds the owner of a credential. Nothing is cached, so a revocation takes effect on every node at its commit. One
 * statement looks up all requests that arrive together, which keeps this cheap.
 */
export class Credentials extends Context.Service<Credentials, {
  /** Looks a token up and counts the request. Records the use of a key at most once a minute. */
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
