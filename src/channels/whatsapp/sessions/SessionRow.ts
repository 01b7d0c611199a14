import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { domainEvent, Events } from "../../../events/Events.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { retryWhileUnavailable } from "../../../platform/database/retryWhileUnavailable.ts"
import { transaction } from "../../../platform/database/transaction.ts"
import type { WhatsAppSessionId } from "../../../values/Ids.ts"
import type { Owned } from "../credentials/CredentialsRepo.ts"
import { SessionTaken } from "../credentials/CredentialStore.ts"
import { newDataKey } from "../credentials/DataKey.ts"
import {
  type SessionInput,
  type SessionNews,
  type SessionState,
  type SessionStep,
  transition
} from "../model/SessionState.ts"
import { makeSessionRowRepo, type SessionRow } from "./SessionRowRepo.ts"

/** The row of one session in the hands of its owner; whatever it does fails once there is another owner. */
export interface OwnedRow {
  readonly id: WhatsAppSessionId
  /** Whose credentials a new connection writes: none before it writes any more. */
  readonly begin: Effect.Effect<Owned, SessionTaken>
  /** Whether there shall be a connection. */
  readonly isOn: boolean
  readonly state: () => SessionState
  /** Says that there is another owner. */
  readonly taken: SessionTaken
  /** What becomes of the session: its row, its keys and the events of it change together. */
  readonly apply: (input: SessionInput, phoneNumber?: string) => Effect.Effect<SessionStep, SessionTaken>
  /** Tells of a new code; not of a session whose request is not answered yet, as nobody knows of it. */
  readonly tellCode: (qrCode: string) => Effect.Effect<void, SessionTaken>
}

const isSame = (a: SessionState, b: SessionState) =>
  a.status === b.status && a.is_paired === b.is_paired && a.is_replaced === b.is_replaced &&
  a.failures === b.failures && a.reason === b.reason

const stateOf = ({ failures, is_paired, is_replaced, reason, status }: SessionRow): SessionState => ({
  status,
  is_paired,
  is_replaced,
  failures,
  reason
})

/** Takes sessions over; nothing where there is no such session. */
export const makeSessionRow = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const events = yield* Events
  const { whatsappRetries } = yield* AppConfig
  const repo = yield* makeSessionRowRepo

  const write = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
    retryWhileUnavailable(transaction(effect)).pipe(Effect.provideService(SqlClient.SqlClient, sql))

  const rowOf = (id: WhatsAppSessionId, row: SessionRow): OwnedRow => {
    let owned: Owned = { id, epoch: row.epoch }
    const taken = new SessionTaken({ sessionId: id })
    let state = stateOf(row)

    const domainEventOf = (news: SessionNews, phoneNumber: string | null) =>
      news._tag === "Connected"
        ? domainEvent({
          accountId: row.account_id,
          event: "session.connected",
          data: { session_id: id, phone_number: `+${phoneNumber ?? ""}` }
        })
        : domainEvent({
          accountId: row.account_id,
          event: "session.disconnected",
          data: { session_id: id, reason: news.reason, reconnecting: news.reconnecting }
        })

    const store = Effect.fnUntraced(function*({ erase, news, next, state }: SessionStep, phoneNumber?: string) {
      const changed = Option.getOrUndefined(
        yield* Effect.orDie(repo.change({
          ...owned,
          ...state,
          desired: next._tag === "Rest" ? "off" : "on",
          phone_number: phoneNumber ?? null,
          has_connected: news?._tag === "Connected",
          try_again: next._tag === "Rest" && next.tryAgain
        }))
      )
      if (changed === undefined) return yield* taken
      const erased = erase === true
        ? yield* Effect.orDie(repo.eraseKeys({ id, data_key: newDataKey(vault, id) }))
        : owned
      if (news !== undefined) yield* events.publish([domainEventOf(news, changed.phone_number)])
      return { id, epoch: erased.epoch }
    })

    return {
      id,
      begin: Effect.gen(function*() {
        const next = yield* retryWhileUnavailable(Effect.orDie(repo.renew(owned)))
        if (Option.isNone(next)) return yield* taken
        owned = { id, epoch: next.value.epoch }
        return owned
      }),
      isOn: row.desired === "on",
      state: () => state,
      taken,
      apply: Effect.fnUntraced(function*(input: SessionInput, phoneNumber?: string) {
        const step = transition(state, input, whatsappRetries)
        const isChange = !isSame(state, step.state) || step.news !== undefined || step.erase === true
        if (isChange) owned = yield* write(store(step, phoneNumber))
        state = step.state
        return step
      }),
      tellCode: (qr_code) =>
        write(Effect.gen(function*() {
          const held = Option.getOrUndefined(yield* Effect.orDie(repo.hold(owned)))
          if (held === undefined) return yield* taken
          if (!held.is_confirmed) return
          const data = { session_id: id, qr_code }
          yield* events.publish([domainEvent({ accountId: row.account_id, event: "session.qr_updated", data })])
        }))
    }
  }

  return Effect.fnUntraced(function*(id: WhatsAppSessionId) {
    const row = yield* retryWhileUnavailable(Effect.orDie(repo.takeOver(id)))
    return Option.getOrUndefined(Option.map(row, (found) => rowOf(id, found)))
  })
})
