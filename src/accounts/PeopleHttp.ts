import { Effect } from "effect"
import { People } from "../people/People.ts"
import { SignIns } from "../people/SignIns.ts"
import { Database } from "../platform/database/Database.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../platform/http/baseContract.ts"
import { nothing } from "../platform/http/RequestContext.ts"
import { Audit } from "./Audit.ts"
import { PeopleApi } from "./PeopleApi.ts"

/** Handlers of {@link PeopleApi}. They are here for the audit log of the account. */
export const PeopleHttp = endpointGroup(
  baseContract.add(PeopleApi),
  "people",
  (handlers) =>
    Effect.gen(function*() {
      const people = yield* People
      const signIns = yield* SignIns
      const audit = yield* Audit
      const { transaction } = yield* Database

      /** The signed-in person; with a key the owner. */
      const subject = Effect.gen(function*() {
        const { accountId, person } = yield* Principal
        return person?.id ?? (yield* people.ofAccount(accountId))
      })

      return handlers.handleAll({
        members: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          // The owner is a member, also before they sign in for the first time.
          yield* people.ofAccount(accountId)
          return { data: yield* people.members(accountId) }
        }),
        signIns: Effect.fnUntraced(function*() {
          return { data: yield* signIns.list(yield* subject) }
        }),
        endSignIn: Effect.fnUntraced(function*({ params: { id } }) {
          const { accountId } = yield* Principal
          const person = yield* subject
          yield* transaction(Effect.gen(function*() {
            if (!(yield* signIns.end(person, id))) return yield* new NotFound()
            yield* audit.record({ accountId, action: "session.ended", target: `sign-in ${id}` })
          }))
          return yield* nothing
        }),
        endSignIns: Effect.fnUntraced(function*() {
          const { accountId } = yield* Principal
          const person = yield* subject
          yield* transaction(Effect.gen(function*() {
            const count = yield* signIns.endOthers(person, undefined)
            if (count > 0) yield* audit.record({ accountId, action: "session.ended", data: { count } })
          }))
          return yield* nothing
        })
      })
    })
)
