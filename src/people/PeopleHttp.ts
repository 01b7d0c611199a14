import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { Principal } from "../platform/http/Authentication.ts"
import { baseContract } from "../platform/http/baseContract.ts"
import { nothing } from "../platform/http/RequestContext.ts"
import { Passkeys } from "./Passkeys.ts"
import { People } from "./People.ts"
import { PeopleApi } from "./PeopleApi.ts"
import { SecondFactors } from "./SecondFactors.ts"
import { SetupLinks } from "./SetupLinks.ts"
import { SignIns } from "./SignIns.ts"

/** Handlers of {@link PeopleApi}. */
export const PeopleHttp = HttpApiBuilder.group(
  baseContract.add(PeopleApi),
  "people",
  (handlers) =>
    Effect.gen(function*() {
      const people = yield* People
      const signIns = yield* SignIns

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
        endSignIn: Effect.fnUntraced(function*({ params }) {
          if (!(yield* signIns.end(yield* subject, params.id))) return yield* new NotFound()
          return yield* nothing
        }),
        endSignIns: Effect.fnUntraced(function*() {
          yield* signIns.endOthers(yield* subject, undefined)
          return yield* nothing
        })
      })
    })
)

/** People with their sign-ins and what they prove. */
export const PeopleLayer = Layer.mergeAll(
  People.layer,
  SignIns.layer,
  SetupLinks.layer,
  SecondFactors.layer,
  Passkeys.layer
)
