import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data } from "../values/Page.ts"
import { FaultLimitReached, FaultName, maxPlanned, SandboxFault } from "./SandboxFault.ts"

const test = { mode: "test" } as const

const list = HttpApiEndpoint.get("list", "/", { success: Data(Schema.Array(SandboxFault)) })
  .annotate(Access.Access, Access.full("messages:read", test))
  .annotateMerge(OpenApi.annotations({
    summary: "List planned faults",
    description: "The faults that no message of a test key has used yet, oldest first. Needs a test key."
  }))

const plan = HttpApiEndpoint.post("plan", "/", {
  payload: Schema.Struct({ fault: FaultName }).annotate({ identifier: "NewSandboxFault" }),
  success: Data(SandboxFault).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed, FaultLimitReached)
})
  .annotate(Access.Access, Access.full("messages:write", test))
  .annotateMerge(OpenApi.annotations({
    summary: "Plan a fault",
    description:
      `The next attempt to send a message of the fault's channel with a test key of the account takes the oldest planned fault of this channel, and fails by it. At most ${maxPlanned} are planned at a time. One that no message has used expires after an hour. Needs a test key.`
  }))

const Deleted = Schema.Struct({ deleted: Schema.Int }).annotate({ identifier: "DeletedSandboxFaults" })

const clear = HttpApiEndpoint.delete("clear", "/", { success: Data(Deleted) })
  .annotate(Access.Access, Access.full("messages:write", test))
  .annotateMerge(OpenApi.annotations({
    summary: "Delete planned faults",
    description: "Deletes all faults that no message has used yet. Needs a test key."
  }))

/** Faults for the next messages of test keys. */
export class SandboxFaultsApi extends HttpApiGroup.make("sandboxFaults")
  .add(list, plan, clear)
  .prefix("/v1/sandbox/faults")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "Sandbox faults",
    description: "Makes the next messages of test keys fail."
  }))
{}
