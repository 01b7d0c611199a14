import { Effect, Option } from "effect"
import { domainEvent, Events } from "../../../events/Events.ts"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { Database } from "../../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../../platform/database/unavailable.ts"
import type { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { OwnershipLost } from "../credentials/CredentialStore.ts"
import { newDataKey } from "../credentials/DataKey.ts"
import type { OwnedSession } from "../model/Session.ts"
import {
  type SessionEvent,
  type SessionInput,
  type SessionState,
  type SessionStep,
  transition
} from "../model/SessionState.ts"
import { type ClaimedSession, SessionRowRepo } from "./SessionRowRepo.ts"

/** The row of a session that this node owns. Every operation fails once another node owns it. */
export interface OwnedRow {
  readonly id: WhatsAppSessionId
  readonly account: AccountId
  /** Raises the epoch for a new connection. Late writes of the previous connection are refused. */
  readonly nextEpoch: Effect.Effect<OwnedSession, OwnershipLost>
  /** Whether the session wants a connection. */
  readonly isDesired: boolean
  readonly state: () => SessionState
  readonly ownershipLost: OwnershipLost
  /** Applies an input. Row, keys and events change in one transaction. */
  readonly apply: (input: SessionInput, phoneNumber?: string) => Effect.Effect<SessionStep, OwnershipLost>
  /** Publishes a new code. A session whose creation is not answered yet publishes none, as no client knows it. */
  readonly publishCode: (qrCode: string) => Effect.Effect<void, OwnershipLost>
}

const isSame = (a: SessionState, b: SessionState) =>
  a.status === b.status && a.is_paired === b.is_paired && a.is_replaced === b.is_replaced &&
  a.failures === b.failures && a.reason === b.reason

const stateOf = ({ failures, is_paired, is_replaced, reason, status }: ClaimedSession): SessionState => ({
  status,
  is_paired,
  is_replaced,
  failures,
  reason
})

/** Claims sessions for this node. The result is undefined if the session is deleted. */
export const make = Effect.gen(function*() {
  const { transaction } = yield* Database
  const vault = yield* Vault
  const events = yield* Events
  const { whatsappRetries } = yield* AppConfig
  const repo = yield* SessionRowRepo

  const write = <A, E>(effect: Effect.Effect<A, E>) => retryWhileUnavailable(transaction(effect))

  const rowOf = (id: WhatsAppSessionId, row: ClaimedSession): OwnedRow => {
    let owned: OwnedSession = { id, epoch: row.epoch }
    const ownershipLost = new OwnershipLost({ sessionId: id })
    let state = stateOf(row)

    const domainEventOf = (event: SessionEvent, phoneNumber: string | null) =>
      event._tag === "Connected"
        ? domainEvent({
          accountId: row.account_id,
          event: "session.connected",
          data: { session_id: id, phone_number: `+${phoneNumber ?? ""}` }
        })
        : domainEvent({
          accountId: row.account_id,
          event: "session.disconnected",
          data: { session_id: id, reason: event.reason, reconnecting: event.reconnecting }
        })

    const store = Effect.fnUntraced(function*({ erase, event, next, state }: SessionStep, phoneNumber?: string) {
      const changed = Option.getOrUndefined(
        yield* repo.change({
          ...owned,
          ...state,
          desired: next._tag === "Idle" ? "off" : "on",
          phone_number: phoneNumber ?? null,
          has_connected: event?._tag === "Connected",
          retry_later: next._tag === "Idle" && next.retryLater
        })
      )
      if (changed === undefined) return yield* ownershipLost
      const erased = erase === true
        ? yield* repo.eraseKeys({ id, data_key: newDataKey(vault, id) })
        : owned
      if (event !== undefined) yield* events.publish([domainEventOf(event, changed.phone_number)])
      return { id, epoch: erased.epoch }
    })

    return {
      id,
      account: row.account_id,
      nextEpoch: Effect.gen(function*() {
        const next = yield* retryWhileUnavailable(repo.nextEpoch(owned))
        if (Option.isNone(next)) return yield* ownershipLost
        owned = { id, epoch: next.value.epoch }
        return owned
      }),
      isDesired: row.desired === "on",
      state: () => state,
      ownershipLost,
      apply: Effect.fnUntraced(function*(input: SessionInput, phoneNumber?: string) {
        const step = transition(state, input, whatsappRetries)
        const isChange = !isSame(state, step.state) || step.event !== undefined || step.erase === true
        if (isChange) owned = yield* write(store(step, phoneNumber))
        state = step.state
        return step
      }),
      publishCode: (qr_code) =>
        write(Effect.gen(function*() {
          const locked = Option.getOrUndefined(yield* repo.lock(owned))
          if (locked === undefined) return yield* ownershipLost
          if (!locked.is_confirmed) return
          const data = { session_id: id, qr_code }
          yield* events.publish([domainEvent({ accountId: row.account_id, event: "session.qr_updated", data })])
        }))
    }
  }

  return Effect.fnUntraced(function*(id: WhatsAppSessionId) {
    const row = yield* retryWhileUnavailable(repo.claim(id))
    return Option.getOrUndefined(Option.map(row, (claimed) => rowOf(id, claimed)))
  })
})
