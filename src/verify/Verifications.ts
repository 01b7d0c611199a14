import { Context, Effect, Layer, Option } from "effect"
import { Accounts } from "../accounts/Accounts.ts"
import { domainEvent, Events } from "../events/Events.ts"
import { acceptedBy, requester } from "../messages/sendFields.ts"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { ulid } from "../platform/crypto/ids.ts"
import { MacKeys } from "../platform/crypto/MacKeys.ts"
import { drawSeed, isCode } from "../platform/crypto/oneTimeCode.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { NotFound, SubscriptionRequired, ValidationFailed } from "../platform/http/ApiErrors.ts"
import type { Principal } from "../platform/http/Authentication.ts"
import { RequestContext } from "../platform/http/RequestContext.ts"
import { countersBy } from "../platform/observability/series.ts"
import { Quotas } from "../usage/Quotas.ts"
import { type AccountId, VerificationId } from "../values/Ids.ts"
import type { PageOf, Window } from "../values/Page.ts"
import { countryOf } from "../values/PhoneNumber.ts"
import { admit, type CodeLimits, type Refusal } from "./admission.ts"
import { CodeSender } from "./CodeSender.ts"
import { keyOf, prefixOf, type Recipient } from "./Recipient.ts"
import { type Route, routeTo } from "./routeTo.ts"
import {
  type BlockedPrefix,
  type CheckedCode,
  CodeChannel,
  type SentVerification,
  type Verification,
  type VerificationStatus
} from "./Verification.ts"
import { type Counted, type StoredVerification, VerificationsRepo } from "./VerificationsRepo.ts"
import { guess, shownStatus } from "./VerificationState.ts"
import type { Guess, NewVerification } from "./VerifyApi.ts"
import type { ChannelRefusal } from "./VerifyChannel.ts"
import {
  CountryNotAllowed,
  MaxAttemptsExceeded,
  OtpLimitReached,
  OtpLimitReason,
  VerificationBlocked,
  VerificationExpired,
  VerificationNotFound
} from "./VerifyErrors.ts"

const stateOf = ({ attempts, is_over, status }: StoredVerification) => ({ attempts, isOver: is_over, status })

const shown = (row: StoredVerification): SentVerification => ({
  id: row.id,
  to: row.to,
  channel: row.channel,
  status: shownStatus(stateOf(row)),
  expires_at: row.expires_at,
  created_at: row.created_at
})

const refusals = countersBy({
  name: "verification_codes_refused_total",
  description: "One-time codes that were not sent, by the limit or block that refused them",
  label: "reason",
  values: ["blocked", "country_not_allowed", ...OtpLimitReason.literals]
})

const confirmations = countersBy({
  name: "verification_codes_confirmed_total",
  description: "Verifications that a correct code ended, by channel",
  label: "channel",
  values: CodeChannel.literals
})

/** Fails with the refusal and sets its retry-after header. */
const refused = Effect.fnUntraced(function*(refusal: Refusal) {
  const { answerHeaders } = yield* RequestContext
  const { retryAfter: retry_after } = refusal
  refusals(refusal._tag === "Blocked" ? "blocked" : refusal.reason)
  answerHeaders.set("retry-after", String(retry_after))
  return yield* refusal._tag === "Blocked"
    ? new VerificationBlocked({ retry_after })
    : new OtpLimitReached({ reason: refusal.reason, limit: refusal.limit, retry_after })
})

/** Runs before the limits, so that refused requests do not count. */
const requireCountry = Effect.fnUntraced(function*(allowed: ReadonlySet<string> | undefined, to: Recipient) {
  if (allowed === undefined || to.kind === "email") return
  const country = countryOf(to.address)
  if (country !== undefined && allowed.has(country)) return
  refusals("country_not_allowed")
  return yield* new CountryNotAllowed({ param: "to", country: country ?? null })
})

/** Selects verifications. Absent fields do not filter. */
interface VerificationFilter {
  readonly status?: VerificationStatus | undefined
  readonly channel?: CodeChannel | undefined
  readonly to?: Recipient | undefined
  /** Inclusive. */
  readonly from_date?: string | undefined
  /** Exclusive. */
  readonly to_date?: string | undefined
}

/** Who asks for a code. */
type Sender = Pick<Principal["Service"], "accountId" | "trial">

const defaults = { length: 6, ttl: 300 } as const

/** One-time codes (spec 1). */
export class Verifications extends Context.Service<Verifications, {
  /**
   * Creates a code and commits it with the message that carries it. A pending verification of the recipient continues
   * with the new code.
   */
  readonly send: (
    sender: Sender,
    asked: NewVerification
  ) => Effect.Effect<
    SentVerification,
    ChannelRefusal | OtpLimitReached | VerificationBlocked | CountryNotAllowed | SubscriptionRequired
  >
  /** Compares a guess. Guesses of one verification run one after the other, so that the limit of attempts holds. */
  readonly check: (
    accountId: AccountId,
    guess: Guess
  ) => Effect.Effect<
    CheckedCode,
    ValidationFailed | VerificationNotFound | VerificationExpired | MaxAttemptsExceeded
  >
  readonly find: (accountId: AccountId, id: VerificationId) => Effect.Effect<Verification, NotFound>
  /** Newest first. */
  readonly list: (
    accountId: AccountId,
    filter: VerificationFilter,
    window: Window
  ) => Effect.Effect<PageOf<Verification>>
  readonly blocks: (accountId: AccountId) => Effect.Effect<ReadonlyArray<BlockedPrefix>>
  /** Lets the numbers of a blocked prefix get codes again. */
  readonly release: (accountId: AccountId, prefix: string) => Effect.Effect<void, NotFound>
}>()("messaging-service/verify/Verifications") {
  static readonly layer = Layer.effect(
    Verifications,
    Effect.gen(function*() {
      const { afterCommit, transaction } = yield* Database
      const config = yield* AppConfig
      const { verify: codeKey } = yield* MacKeys
      const accounts = yield* Accounts
      const events = yield* Events
      const quotas = yield* Quotas
      const sender = yield* CodeSender
      const repo = yield* VerificationsRepo
      const { otpAttempts: maxAttempts } = config
      const limits: CodeLimits = {
        resendSeconds: config.otpResendSeconds,
        perHour: config.otpLimitHour,
        perDay: config.otpLimitDay,
        perHourAll: config.otpLimitHourAll,
        perDayAll: config.otpLimitDayAll,
        perNetworkHour: config.otpLimitClientIp,
        perPrefixHour: config.otpLimitPrefix
      }

      const requireRoom = Effect.fnUntraced(function*(counted: Counted) {
        yield* repo.lock(counted)
        const row = yield* repo.counts(counted)
        const refusal = admit({
          sinceLast: row.since_last,
          hour: { count: row.hour, frees: row.hour_frees },
          day: { count: row.day, frees: row.day_frees },
          hourAll: { count: row.hour_all, frees: row.hour_all_frees },
          dayAll: { count: row.day_all, frees: row.day_all_frees },
          network: { count: row.network, frees: row.network_frees },
          prefix: { count: row.prefix, frees: row.prefix_frees },
          blockedFor: row.blocked_for
        }, limits)
        if (refusal !== undefined) return yield* refused(refusal)
      })

      /** The id of the verification that the next code belongs to. */
      const idFor = Effect.fnUntraced(function*(counted: Counted) {
        const pending = Option.getOrUndefined(yield* repo.pending(counted))
        if (pending !== undefined && !pending.is_over) return pending.id
        if (pending !== undefined) yield* sender.expire([pending])
        return VerificationId.make(`ver_${yield* ulid}`)
      })

      const localeOf = (accountId: AccountId, { locale }: NewVerification) =>
        locale === undefined
          ? Effect.map(accounts.find(accountId), (account) => Option.isSome(account) ? account.value.locale : "en")
          : Effect.succeed(locale)

      /** The channels of a route that the sender may use. */
      const openTo = Effect.fnUntraced(function*({ trial }: Sender, route: Route) {
        if (trial === "none") return route
        const [first, ...others] = route.filter((channel) => config.trialChannels.has(channel))
        if (first === undefined) return yield* new SubscriptionRequired()
        return [first, ...others] as const
      })

      const send = Effect.fn("Verifications.send")(function*(by: Sender, asked: NewVerification) {
        const { accountId } = by
        const { brand_name, client_ip, domain, length = defaults.length, session_id, to, ttl = defaults.ttl } = asked
        const channels = yield* openTo(by, yield* routeTo(to, asked.channel))
        yield* requireCountry(config.otpCountries, to)
        const locale = yield* localeOf(accountId, asked)
        const counted = { accountId, recipient: keyOf(to), prefix: prefixOf(to), clientIp: client_ip ?? null }
        return yield* transaction(Effect.gen(function*() {
          yield* requireRoom(counted)
          const row = yield* repo.put({
            id: yield* idFor(counted),
            accountId,
            to: to.address,
            channel: channels[0],
            seed: drawSeed(length),
            ttl,
            brandName: brand_name ?? null,
            locale,
            webDomain: domain ?? null,
            sessionId: session_id ?? null,
            country: to.kind === "phone" ? countryOf(to.address) ?? null : null,
            acceptedBy: acceptedBy({ acceptedBy: yield* requester })
          })
          yield* repo.addSend(row.id, counted)
          const sent = yield* sender.send(row, to, channels)
          yield* quotas.reserve(accountId, "otp", 1)
          return shown(sent)
        }))
      })

      const lookUp = Effect.fnUntraced(function*(
        accountId: AccountId,
        { id, to }: { readonly id?: string; readonly to?: Recipient }
      ) {
        if (id !== undefined) {
          // An app may pass on the id that its user sent, with the address that the code has to confirm.
          const isOf = (row: StoredVerification) => to === undefined || row.to.toLowerCase() === keyOf(to)
          return Option.filter(yield* repo.byId({ accountId, id }), isOf)
        }
        if (to !== undefined) return yield* repo.byRecipient({ accountId, recipient: keyOf(to) })
        return yield* ValidationFailed.of("id", "is required unless to is given", "missing")
      })

      const approved = (row: StoredVerification, verified_at: NonNullable<StoredVerification["verified_at"]>) => {
        const data = { verification_id: row.id, to: row.to, channel: row.channel, verified_at }
        return Effect.as(
          Effect.andThen(
            events.publish([domainEvent({ accountId: row.account_id, event: "verify.completed", data })]),
            afterCommit(Effect.sync(() => confirmations(row.channel)))
          ),
          { id: row.id, valid: true as const, verified_at }
        )
      }

      const check = Effect.fn("Verifications.check")(function*(accountId: AccountId, entered: Guess) {
        return yield* transaction(Effect.gen(function*() {
          const row = Option.getOrUndefined(yield* lookUp(accountId, entered))
          if (row === undefined) return yield* new VerificationNotFound()
          const guessed = guess(stateOf(row), isCode(codeKey, row.code_seed, entered.code), maxAttempts)
          if (guessed._tag === "Used") return yield* new VerificationNotFound()
          if (guessed._tag === "Expired") return yield* new VerificationExpired()
          if (guessed._tag === "Exhausted") return yield* new MaxAttemptsExceeded({ limit: maxAttempts })
          const { verified_at } = yield* repo.settle({ id: row.id, ...guessed.next })
          if (verified_at !== null) return yield* approved(row, verified_at)
          return { id: row.id, valid: false as const, attempts_remaining: maxAttempts - guessed.next.attempts }
        }))
      })

      const detailed = (row: StoredVerification): Verification => ({
        ...shown(row),
        attempts_remaining: Math.max(0, maxAttempts - row.attempts)
      })

      return Verifications.of({
        send,
        check,
        find: Effect.fn("Verifications.find")(function*(accountId, id) {
          const row = Option.getOrUndefined(yield* repo.find({ accountId, id }))
          if (row === undefined) return yield* new NotFound()
          return detailed(row)
        }),
        list: Effect.fn("Verifications.list")(function*(accountId, filter, window) {
          const { channel = null, from_date = null, status = null, to, to_date = null } = filter
          const recipient = to === undefined ? null : keyOf(to)
          const wanted = { accountId, channel, from_date, recipient, status, to_date, ...window }
          const { rows, total } = yield* Query.windowOf(repo, wanted)
          return { rows: rows.map(detailed), total }
        }),
        blocks: Effect.fn("Verifications.blocks")(repo.blocks),
        release: Effect.fn("Verifications.release")(function*(accountId, prefix) {
          if (Option.isNone(yield* repo.release({ accountId, prefix }))) return yield* new NotFound()
        })
      })
    })
  ).pipe(Layer.provide(VerificationsRepo.layer))
}
