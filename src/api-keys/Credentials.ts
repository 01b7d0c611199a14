import { Context, Effect, Exit, Fiber, Layer } from "effect"
import * as Tokens from "../platform/crypto/Tokens.ts"
import { type FirstRead, QuickReads, type Read } from "../platform/database/QuickReads.ts"
import { GroupCommit } from "../platform/work/GroupCommit.ts"
import { keyPrefixes } from "./ApiKeys.ts"
import { ApiKeysRepo, type Credential, type Use } from "./ApiKeysRepo.ts"

/** What the tokens of keys begin with. */
export const prefixes = Object.values(keyPrefixes)

interface Search {
  readonly token: string
  readonly by: Use["by"]
  readonly first: FirstRead | undefined
}

/**
 * Finds the owner of a credential. Nothing is cached, so a revocation takes effect on every node at its commit. One
 * statement looks up all requests that arrive together, which keeps this cheap.
 */
export class Credentials extends Context.Service<Credentials, {
  /**
   * Looks a token up. Sends the expected first read of a request along, unless other requests share the look-up. Records the
   * use of a credential at most once a minute.
   */
  readonly find: (search: Search) => Effect.Effect<Credential>
}>()("messaging-service/api-keys/Credentials") {
  static readonly layer = Layer.effect(
    Credentials,
    Effect.gen(function*() {
      const repo = yield* ApiKeysRepo
      const quick = yield* QuickReads.orClient
      const lookUp = (searches: ReadonlyArray<Search>) => {
        const places = new Map<string, number>()
        const uses: Array<Use["by"]> = []
        for (const { by, token } of searches) {
          if (places.has(token)) continue
          places.set(token, places.size)
          uses.push(by)
        }
        const different = [...places.keys()]
        const hashes = different.map(Tokens.hash)
        const areKeys = different.every((token) => prefixes.some((prefix) => token.startsWith(prefix)))
        return Effect.flatMap(areKeys ? repo.keyCredentials(hashes) : repo.credentials(hashes), (found) => {
          const stale = found.flatMap((credential, place) => {
            const by = uses[place]
            return credential.is_stale && credential.state === "usable" && by !== undefined ? [{ credential, by }] : []
          })
          const rows = searches.flatMap(({ token }) => found[places.get(token) ?? -1] ?? [])
          return stale.length === 0
            ? Effect.succeed(rows)
            : Effect.as(Effect.forkDetach(Effect.ignore(repo.touch(stale))), rows)
        })
      }
      const find = yield* GroupCommit.make({
        maxSize: 500,
        concurrency: 2,
        run: (searches: ReadonlyArray<Search>) => {
          const found = lookUp(searches)
          const first = searches.length === 1 ? searches[0]?.first : undefined
          const expected = first?.expected
          if (first === undefined || expected === undefined) return found
          // Both start in this turn and in this order, so that the read follows the look-up in the same write.
          const read = Effect.forkDetach(quick.rows(expected.statement, expected.values), { startImmediately: true })
          return Effect.flatMap(
            Effect.forkChild(found, { startImmediately: true }),
            (finding) =>
              Effect.flatMap(read, (sent) => {
                first.sent = sent
                return Fiber.join(finding)
              })
          )
        }
      })
      return Credentials.of({ find })
    })
  ).pipe(Layer.provide(ApiKeysRepo.layer))
}

/** Requests whose first read is remembered. */
const maxRemembered = 1_000

/** Requests with a longer address are not remembered. */
const maxAddressLength = 256

/**
 * What requests read first, by the visible part of their key and their address. A request takes its entry out, and puts
 * what it read back when it succeeds. So the entry of a key that is revoked or above its limit costs one read in vain. Others
 * like it meanwhile do without, because requests that come together share their look-ups and reads anyway.
 */
export const makeFirstReads = () => {
  const reads = new Map<string, Read | "taken">()
  return <A, E, R>(keyPrefix: string, address: string, request: (first?: FirstRead) => Effect.Effect<A, E, R>) =>
    Effect.suspend(() => {
      if (address.length > maxAddressLength) return request()
      const name = `${keyPrefix} ${address}`
      const expected = reads.get(name)
      if (expected === "taken") return request()
      const first: FirstRead = { expected }
      reads.set(name, "taken")
      return Effect.onExit(request(first), (exit) =>
        Effect.sync(() => {
          reads.delete(name)
          if (Exit.isFailure(exit) || first.asked === undefined) return
          reads.set(name, first.asked)
          const [oldest] = reads.keys()
          if (reads.size > maxRemembered && oldest !== undefined) reads.delete(oldest)
        }))
    })
}
