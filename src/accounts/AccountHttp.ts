import { Effect, Layer, Option } from "effect"
import { InsufficientPermission, NotFound } from "../platform/http/ApiErrors.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { nothing } from "../platform/http/RequestContext.ts"
import { AccountApi } from "./AccountApi.ts"
import { AccountRemoval } from "./AccountRemoval.ts"
import { Accounts } from "./Accounts.ts"
import { AccountSettings } from "./AccountSettings.ts"
import { AddressConfirmationPage, AddressConfirmations } from "./AddressConfirmations.ts"
import { Audit } from "./Audit.ts"
import { AuthHttp } from "./AuthHttp.ts"
import { CurrentPassword } from "./CurrentPassword.ts"
import { EmailChangePages } from "./EmailChangePages.ts"
import { EmailChanges } from "./EmailChanges.ts"
import { LoginGuesses } from "./LoginGuesses.ts"
import { LoginSessions } from "./LoginSessions.ts"
import { Notices } from "./notices/Notices.ts"
import { SealedNotices } from "./notices/SealedNotices.ts"
import { PasswordResetAnswers, PasswordResets } from "./PasswordResets.ts"
import { PeopleHttp } from "./PeopleHttp.ts"
import { PlanLimits } from "./PlanLimits.ts"

/** Refuses other people than the owner what would take the account from the owner. A key acts for its account. */
const ownerAlone = Effect.flatMap(Principal, ({ person }) =>
  person === undefined || person.role === "owner"
    ? Effect.void
    : Effect.fail(new InsufficientPermission({ required: "account:write" })))

/** Handlers of {@link AccountApi}. */
const AccountHttp = endpointGroup(
  baseContract.add(AccountApi),
  "account",
  (handlers) =>
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const settings = yield* AccountSettings
      const removal = yield* AccountRemoval
      const sessions = yield* LoginSessions

      return handlers.handleAll({
        read: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          const account = yield* accounts.find(accountId)
          // The account was deleted after authentication.
          return Option.isSome(account) ? { data: account.value } : yield* new NotFound({})
        }),
        profile: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          // The new address could reset the owner's password.
          if (payload.email !== undefined) yield* ownerAlone
          return { data: yield* settings.changeProfile(accountId, payload) }
        }),
        password: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          yield* settings.changePassword(accountId, payload)
          return yield* nothing
        }),
        notifications: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          return { data: yield* settings.notifications(accountId) }
        }),
        changeNotifications: Effect.fnUntraced(function*({ payload }) {
          const { accountId } = yield* Principal
          return { data: yield* settings.changeNotifications(accountId, payload) }
        }),
        sessions: Effect.fnUntraced(function*() {
          const { accountId, sessionId: current } = yield* Principal
          return { data: yield* sessions.list({ accountId, current }) }
        }),
        endSession: Effect.fnUntraced(function*({ params }) {
          const { accountId } = yield* Principal
          yield* sessions.end(accountId, params.id)
          return yield* nothing
        }),
        endSessions: Effect.fnUntraced(function*() {
          const { accountId, sessionId: current } = yield* Principal
          yield* sessions.endOthers({ accountId, current })
          return yield* nothing
        }),
        remove: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          yield* ownerAlone
          yield* removal.remove(accountId)
          return yield* nothing
        })
      })
    })
)

/** Accounts with their endpoints, notices and audit log. Requires `Erasure`. */
export const AccountsLayer = Layer.mergeAll(
  AuthHttp,
  AccountHttp,
  AddressConfirmationPage,
  EmailChangePages,
  PeopleHttp,
  PasswordResetAnswers
).pipe(
  Layer.provideMerge(AccountSettings.layer),
  Layer.provideMerge(EmailChanges.layer),
  Layer.provideMerge(Layer.mergeAll(
    Accounts.layer,
    LoginGuesses.layer,
    LoginSessions.layer,
    PasswordResets.layer,
    AddressConfirmations.layer,
    AccountRemoval.layer
  )),
  Layer.provideMerge(
    Layer.mergeAll(Audit.layer, Notices.layer, SealedNotices.layer, CurrentPassword.layer, PlanLimits.layer)
  )
)
