import { Effect, Layer, Option, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type KeyObject, timingSafeEqual } from "node:crypto"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { MacKeys } from "../../platform/crypto/MacKeys.ts"
import { shortMac } from "../../platform/crypto/Vault.ts"
import * as Query from "../../platform/database/Query.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { parseHttpsUrl } from "../../values/HttpsUrl.ts"
import { AccountId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { failingMinutes, receiverPath, SandboxReceivers } from "../../webhooks/endpoint/SandboxReceiver.ts"
import { SandboxToken } from "../pages/SandboxToken.ts"

const macLength = 12

/** The secret names the account and carries a MAC, so that no table has it and no guess finds an account. */
const secrets = (key: KeyObject) => {
  const macOf = (id: string) => shortMac(key, id, macLength)
  return {
    secretOf: (id: AccountId) => `${id}-${macOf(String(id)).toString("base64url")}`,
    accountOf: (secret: string): Option.Option<AccountId> => {
      const [, id, mac] = /^(-?\d{1,15})-([A-Za-z0-9_-]{16})$/.exec(secret) ?? []
      if (id === undefined || mac === undefined) return Option.none()
      return timingSafeEqual(macOf(id), Buffer.from(mac, "base64url"))
        ? Option.some(AccountId.make(Number(id)))
        : Option.none()
    }
  }
}

const makeSwitch = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const Row = Schema.Struct({ failing_until: Timestamp })

  const read = Query.findOneOption({
    Request: AccountId,
    Result: Row,
    execute: (accountId) =>
      sql`select failing_until from sandbox_receivers where account_id = ${accountId} and failing_until > now()`
  })

  const fail = Query.findOneOption({
    Request: AccountId,
    Result: Row,
    execute: (accountId) =>
      sql`insert into sandbox_receivers (account_id, failing_until)
        values (${accountId}, now() + make_interval(mins => ${failingMinutes}))
        on conflict (account_id) do update set failing_until = excluded.failing_until
        returning failing_until`
  })

  const recover = (accountId: AccountId) =>
    Query.run(sql`delete from sandbox_receivers where account_id = ${accountId}`)

  return { read, fail, recover }
})

/** The receivers of all accounts, open wherever the sandbox's pages are. */
export const Receivers = Layer.effect(
  SandboxReceivers,
  Effect.gen(function*() {
    const { webhookAllowLoopback: allowLoopback } = yield* AppConfig
    const { receiver: key } = yield* MacKeys
    const { base } = yield* PublicUrl
    const { token } = yield* SandboxToken
    const { fail, read, recover } = yield* makeSwitch
    const { accountOf, secretOf } = secrets(key)

    // In production without a public URL the rules for webhooks refuse the address.
    const isReachable = Result.isSuccess(parseHttpsUrl(`${base}${receiverPath}/1`, { allowLoopback }))
    const isOpen = Option.isSome(token) && isReachable
    const shown = (accountId: AccountId, row: Option.Option<{ readonly failing_until: Timestamp }>) => ({
      url: `${base}${receiverPath}/${secretOf(accountId)}`,
      failing_until: Option.match(row, { onNone: () => null, onSome: ({ failing_until }) => failing_until })
    })

    return SandboxReceivers.of({
      find: Effect.fn("Receivers.find")(function*(accountId) {
        return isOpen ? Option.some(shown(accountId, yield* read(accountId))) : Option.none()
      }),
      change: Effect.fn("Receivers.change")(function*(accountId, failing) {
        if (!isOpen) return Option.none()
        if (failing) return Option.some(shown(accountId, yield* fail(accountId)))
        yield* recover(accountId)
        return Option.some(shown(accountId, Option.none()))
      }),
      statusFor: Effect.fn("Receivers.statusFor")(function*(secret) {
        const accountId = isOpen ? accountOf(secret) : Option.none()
        if (Option.isNone(accountId)) return Option.none()
        return Option.some(Option.isSome(yield* read(accountId.value)) ? 500 : 204)
      })
    })
  })
)
