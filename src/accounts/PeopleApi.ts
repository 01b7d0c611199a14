import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Member, SignIn } from "../people/Person.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { LoginSessionId, pathId } from "../values/Ids.ts"
import { Data, Nothing } from "../values/Page.ts"

/** A test key belongs to no person. */
const live = { mode: "live" } as const

const members = HttpApiEndpoint.get("members", "/members", { success: Data(Schema.Array(Member)) })
  .annotate(Access.Access, Access.full("members:read", live))
  .annotateMerge(OpenApi.annotations({
    summary: "List members",
    description: "The people with a role in the account, oldest first."
  }))

const signIns = HttpApiEndpoint.get("signIns", "/sign-ins", { success: Data(Schema.Array(SignIn)) })
  .annotate(Access.Access, Access.full("account:read", live))
  .annotateMerge(OpenApi.annotations({
    summary: "List sign-ins",
    description: "The browsers in which the account's owner is signed in to the console, newest first: at most 100."
  }))

const endSignIn = HttpApiEndpoint.delete("endSignIn", "/sign-ins/:id", {
  params: { id: pathId(LoginSessionId) },
  success: Nothing,
  error: apiErrors(NotFound)
}).annotate(Access.Access, Access.full("account:write", live)).annotateMerge(OpenApi.annotations({
  summary: "End a sign-in",
  description: "Every node refuses its browser at the next request."
}))

const endSignIns = HttpApiEndpoint.delete("endSignIns", "/sign-ins", { success: Nothing })
  .annotate(Access.Access, Access.full("account:write", live))
  .annotateMerge(OpenApi.annotations({
    summary: "End all sign-ins",
    description: "Signs the account's owner out of every browser."
  }))

/** The people of an account, and where its owner is signed in. */
export class PeopleApi extends HttpApiGroup.make("people")
  .add(members, signIns, endSignIn, endSignIns)
  .prefix("/v1/account")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "People", description: "Members of the account, and sign-ins to the console." })
  )
{}
