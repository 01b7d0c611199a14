import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data, Paged, pageQuery } from "../values/Page.ts"
import { textBetween } from "../values/Text.ts"
import { SandboxChannel, SandboxMessage } from "./SandboxMessage.ts"

const waitRule = { message: "must be a whole number from 0 to 60" }

const wait = Schema.String.annotate({
  description: "Seconds to wait for the first message",
  format: "int64",
  default: "0"
}).check(Schema.isPattern(/^\d{1,2}$/, { ...waitRule, toJsonSchema: () => ({ minimum: 0, maximum: 60 }) })).pipe(
  Schema.decodeTo(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 0, maximum: 60 }, waitRule))),
  Schema.withDecodingDefaultKey(Effect.succeed("0"))
)

const test = { mode: "test" } as const

const list = HttpApiEndpoint.get("list", "/", {
  query: {
    ...pageQuery,
    channel: Schema.optionalKey(SandboxChannel),
    to: Schema.optionalKey(
      textBetween(1, 320).annotate({ description: "An address or number; of an address, a part will do" })
    ),
    wait
  },
  success: Paged(SandboxMessage),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, Access.full("messages:read", test))
  .annotateMerge(OpenApi.annotations({
    summary: "List what test keys sent",
    description:
      "The messages as their recipients received them in the sandbox, newest first, at most 1,000 of each channel. Needs a test key."
  }))

const Deleted = Schema.Struct({ deleted: Schema.Int }).annotate({ identifier: "DeletedSandboxMessages" })

const clear = HttpApiEndpoint.delete("clear", "/", { success: Data(Deleted) })
  .annotate(Access.Access, Access.full("messages:write", test))
  .annotateMerge(OpenApi.annotations({
    summary: "Clear what test keys sent",
    description: "Empties the sandbox of the account. The records of the messages stay. Needs a test key."
  }))

/** What test keys sent, for the tests of their owner. */
export class SandboxMessagesApi extends HttpApiGroup.make("sandboxMessages")
  .add(list, clear)
  .prefix("/v1/sandbox/messages")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Sandbox", description: "Reads what test keys sent." }))
{}
