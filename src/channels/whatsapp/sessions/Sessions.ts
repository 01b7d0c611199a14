import { Cause, Context, Duration, Effect, Layer, Option, Schedule } from "effect"
import { PlanLimits } from "../../../accounts/PlanLimits.ts"
import { ulid } from "../../../platform/crypto/ids.ts"
import { Vault } from "../../../platform/crypto/Vault.ts"
import { Database } from "../../../platform/database/Database.ts"
import * as Query from "../../../platform/database/Query.ts"
import { NotFound, type PlanLimitExceeded, ServiceUnavailable } from "../../../platform/http/ApiErrors.ts"
import { WriteWithAnswer } from "../../../platform/http/Idempotency.ts"
import type { AccountId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { PageOf, Window } from "../../../values/Page.ts"
import { newDataKey } from "../credentials/DataKey.ts"
import type { CreatedSession, PairingCode, PastState, QrCode, Session, SessionDetail } from "../model/Session.ts"
import { PairingUnavailable, SessionAlreadyConnected } from "../model/SessionErrors.ts"
import type { SessionStatus } from "../model/SessionState.ts"
import { requestTimeout } from "../socket/DirectorySocket.ts"
import { type NoCode, SessionEntity } from "./SessionEntity.ts"
import type { NewSession } from "./SessionsApi.ts"
import { SessionsRepo } from "./SessionsRepo.ts"

interface Which {
  readonly accountId: AccountId
  readonly id: WhatsAppSessionId
}

/** How long a removal waits for the device to log out. After it, the session is erased anyway. */
const logoutTimeout = Duration.seconds(6)

const noCode = (why: NoCode["why"]): NoCode => ({ _tag: "NoCode", why })

/**
 * Repeats the request while the session moves to another node: the old actor interrupts its callers, and the cluster
 * refuses requests until the new one runs.
 */
const repeatWhileMoving = <A extends { readonly _tag: string }, E>(
  ask: Effect.Effect<A | NoCode, E>
): Effect.Effect<A | NoCode> =>
  ask.pipe(
    Effect.orElseSucceed(() => noCode("moved")),
    Effect.catchCauseIf(Cause.hasInterruptsOnly, () => Effect.succeed(noCode("moved"))),
    Effect.repeat({
      while: (answer) => answer._tag === "NoCode" && "why" in answer && answer.why === "moved",
      schedule: Schedule.spaced("100 millis")
    })
  )

/** The WhatsApp sessions of an account (spec 2.3, 3.1, 4.2). */
export class Sessions extends Context.Service<Sessions, {
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: { readonly status?: SessionStatus },
    window: Window
  ) => Effect.Effect<PageOf<Session>>
  readonly find: (which: Which) => Effect.Effect<SessionDetail, NotFound>
  /** Whether the session has a phone, connected or not. */
  readonly isPaired: (which: Which) => Effect.Effect<boolean, NotFound>
  /** The states that the session had in the last 30 days, with the one that held when they began, the newest first. */
  readonly states: (which: Which, window: Pick<Window, "after" | "limit">) => Effect.Effect<ReadonlyArray<PastState>>
  /** Creates a session within the exact limit of the plan. Without a first code, the session is erased again. */
  readonly create: (
    accountId: AccountId,
    session: NewSession
  ) => Effect.Effect<CreatedSession, PlanLimitExceeded | PairingUnavailable>
  /** The current code. An idle session starts over; a session with credentials tries those first. */
  readonly qr: (which: Which) => Effect.Effect<QrCode, NotFound | SessionAlreadyConnected | PairingUnavailable>
  /** A code to type into the phone with this number. */
  readonly pairingCode: (
    which: Which,
    phoneNumber: string
  ) => Effect.Effect<PairingCode, NotFound | SessionAlreadyConnected | PairingUnavailable>
  /** Connects at once, and answers with the state that the session has then. One without a phone shows codes. */
  readonly reconnect: (which: Which) => Effect.Effect<SessionDetail, NotFound | SessionAlreadyConnected>
  /** Logs the device out and erases its credentials. The session stays, and can be paired again. */
  readonly logOut: (which: Which) => Effect.Effect<SessionDetail, NotFound | ServiceUnavailable>
  readonly rename: (which: Which, name: string) => Effect.Effect<SessionDetail, NotFound>
  /** Logs the device out and erases its credentials. When it returns, no copy of them can be decrypted. */
  readonly remove: (which: Which) => Effect.Effect<void, NotFound>
  /** Finishes the removal of a session that its account no longer sees. */
  readonly erase: (id: WhatsAppSessionId) => Effect.Effect<void>
}>()("messaging-service/channels/whatsapp/sessions/Sessions") {
  static readonly layer = Layer.effect(
    Sessions,
    Effect.gen(function*() {
      const vault = yield* Vault
      const limits = yield* PlanLimits
      const { transaction, waitWithoutConnection } = yield* Database
      const repo = yield* SessionsRepo
      const actor = yield* SessionEntity.client

      /** Sends a request to the actor, with a timeout. The session may move meanwhile, for example when a node joins. */
      const request = <A extends { readonly _tag: string }, E>(ask: Effect.Effect<A | NoCode, E>) =>
        waitWithoutConnection(Effect.timeoutOption(repeatWhileMoving(ask), requestTimeout)).pipe(
          Effect.map(Option.getOrElse((): A | NoCode => noCode("unavailable")))
        )

      const refuse = Effect.fnUntraced(function*({ why }: NoCode) {
        if (why === "connected") return yield* new SessionAlreadyConnected()
        return why === "gone" ? yield* new NotFound() : yield* new PairingUnavailable()
      })

      const existing = Effect.fnUntraced(function*(which: Which) {
        const row = yield* repo.find(which)
        return Option.isSome(row) ? row.value : yield* new NotFound()
      })

      const insert = Effect.fnUntraced(function*(accountId: AccountId, name: string | null | undefined) {
        const count = Effect.map(repo.countAll(accountId), ({ current }) => current)
        yield* limits.requireCapacity(accountId, "whatsapp_sessions", count)
        const { id } = yield* repo.nextId()
        const session_key = `wa_${yield* ulid}`
        const row = { accountId, id, session_key, name: name ?? `Session ${id}`, data_key: newDataKey(vault, id) }
        return yield* repo.insert(row)
      })

      const erase = Effect.fn("Sessions.erase")(function*(id: WhatsAppSessionId) {
        yield* Effect.ignoreCause(Effect.timeoutOption(actor(String(id)).LogOut(), logoutTimeout))
        yield* repo.erase(id)
      })

      const create = Effect.fn("Sessions.create")(function*(accountId: AccountId, wanted: NewSession) {
        // Commits at once, because the actor may run on another node. The account sees the session only once it is confirmed.
        const { messages_count: _, ...session } = yield* transaction(insert(accountId, wanted.name))
        const { id } = session
        return yield* Effect.gen(function*() {
          const code = yield* request(actor(String(id)).Qr())
          if (code._tag === "NoCode") return yield* new PairingUnavailable()
          yield* (yield* WriteWithAnswer)(repo.confirm(id))
          return { ...session, qr_code: code.qr_code }
        }).pipe(Effect.onError(() => Effect.forkDetach(erase(id))))
      })

      const qr = Effect.fn("Sessions.qr")(function*(which: Which) {
        const { status } = yield* existing(which)
        if (status === "connected") return yield* new SessionAlreadyConnected()
        const code = yield* request(actor(String(which.id)).Qr())
        if (code._tag === "NoCode") return yield* refuse(code)
        return { qr_code: code.qr_code, expires_at: code.expires_at }
      })

      const pairingCode = Effect.fn("Sessions.pairingCode")(function*(which: Which, phoneNumber: string) {
        const { status } = yield* existing(which)
        if (status === "connected") return yield* new SessionAlreadyConnected()
        const code = yield* request(actor(String(which.id)).Pair({ phoneNumber }))
        if (code._tag === "NoCode") return yield* refuse(code)
        return { code: code.code, expires_at: code.expires_at }
      })

      const reconnect = Effect.fn("Sessions.reconnect")(function*(which: Which) {
        const { status } = yield* existing(which)
        if (status === "connected") return yield* new SessionAlreadyConnected()
        yield* request(actor(String(which.id)).Qr())
        return yield* existing(which)
      })

      const logOut = Effect.fn("Sessions.logOut")(function*(which: Which) {
        yield* existing(which)
        const answer = yield* request(actor(String(which.id)).Unlink())
        if (answer._tag === "NoCode" && answer.why !== "gone") return yield* new ServiceUnavailable()
        return yield* existing(which)
      })

      return Sessions.of({
        create,
        qr,
        pairingCode,
        reconnect,
        logOut,
        erase,
        find: Effect.fn("Sessions.find")(existing),
        isPaired: Effect.fn("Sessions.isPaired")(function*(which) {
          const row = yield* repo.pairing(which)
          return Option.isSome(row) ? row.value.is_paired : yield* new NotFound()
        }),
        states: Effect.fn("Sessions.states")((which, { after, limit }) => repo.states({ ...which, after, limit })),
        rename: Effect.fn("Sessions.rename")(function*(which, name) {
          const row = yield* repo.rename({ ...which, name })
          return Option.isSome(row) ? row.value : yield* new NotFound()
        }),
        list: Effect.fn("Sessions.list")((accountId, { status = null }, window) =>
          Query.windowOf(repo, { accountId, status, ...window })
        ),
        remove: Effect.fn("Sessions.remove")(function*(which) {
          if (Option.isNone(yield* repo.markRemoved(which))) return yield* new NotFound()
          yield* erase(which.id)
        })
      })
    })
  ).pipe(Layer.provide(SessionsRepo.layer))
}
