/** `/mcp`: the tools of agents, by the Model Context Protocol over streamable HTTP. */
import { Effect, FileSystem, Layer, Option, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { type HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import manifest from "../../../package.json" with { type: "json" }
import { OwnCalls } from "../../platform/calls/OwnCalls.ts"
import { Access, type Rule } from "../../platform/http/Access.ts"
import { Authentication, Principal } from "../../platform/http/Authentication.ts"
import { baseContract, endpointGroup } from "../../platform/http/baseContract.ts"
import { BodyLimit, files as fileLimits, RequestRules, WaitsOutside } from "../../platform/http/RequestRules.ts"
import { Scope } from "../../values/Permission.ts"
import { callTool } from "./callTool.ts"
import { type ListedGuide, listedGuides, promptOf, prompts, readResource, resources } from "./Guides.ts"
import { isAllowed, type Tool, toolsOf } from "./Tools.ts"

/** Revisions of the protocol, the newest first. What this module uses is the same in both. */
const revisions = ["2025-11-25", "2025-06-18"]

/** Any key may call: each tool has the access of its endpoint. */
const anyKey: Rule = { kind: "account", scopes: Scope.literals, permission: undefined, paid: "no", mode: undefined }

const call = HttpApiEndpoint.post("call", "/mcp", { payload: Schema.Unknown, success: Schema.Unknown })
  .annotate(Access, anyKey)
  .annotate(BodyLimit, fileLimits)
  .annotate(WaitsOutside, true)

/** Not a part of the API's document, because its protocol is another one. */
class McpApi extends HttpApiGroup.make("mcp").add(call).middleware(RequestRules).middleware(Authentication) {}

const contract = baseContract.add(McpApi)

const Request = Schema.Struct({
  jsonrpc: Schema.Literal("2.0"),
  id: Schema.optionalKey(Schema.Union([Schema.String, Schema.Finite])),
  method: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown))
})

/** An error of the protocol: JSON-RPC 2.0, section 5.1. */
class RpcError extends Schema.TaggedError<RpcError>()("RpcError", { code: Schema.Int, reason: Schema.String }) {}

const badParams = (reason: string) => new RpcError({ code: -32_602, reason })

const instructions = "A self-hosted service that sends email, SMS, WhatsApp messages and one-time codes. "
  + "Tools whose description begins with SENDS reach real people: ask the person before you call one. "
  + "Phone numbers have their country code. The resources are guides by task; errors name the section that helps."

const testKey = " This is a test key: nothing leaves the service, and messages appear in its sandbox."

interface Served {
  readonly tools: Effect.Effect<ReadonlyMap<string, Tool>>
  readonly guides: Effect.Effect<ReadonlyArray<ListedGuide>>
}

type Params = Readonly<Record<string, unknown>>

const initialized = ({ protocolVersion }: Params, { mode }: Principal["Service"]) => ({
  protocolVersion: revisions.find((each) => each === protocolVersion) ?? revisions[0],
  capabilities: { tools: {}, resources: {}, prompts: {} },
  serverInfo: { name: manifest.name, title: "Messaging Service", version: manifest.version },
  instructions: mode === "test" ? `${instructions}${testKey}` : instructions
})

const orBadParams = <A>(found: Option.Option<A>, reason: string) =>
  Effect.mapError(Effect.fromOption(found), () => badParams(reason))

/** The result of one method. */
const resultOf = Effect.fnUntraced(function*({ guides, tools }: Served, method: string, params: Params) {
  const principal = yield* Principal
  switch (method) {
    case "initialize":
      return initialized(params, principal)
    case "ping":
      return {}
    case "tools/list":
      return {
        tools: [...(yield* tools).values()].filter((tool) => isAllowed(tool, principal)).map(({ listed }) => listed)
      }
    case "tools/call": {
      const tool = (yield* tools).get(String(params["name"]))
      if (tool === undefined || !isAllowed(tool, principal)) {
        return yield* badParams(`${String(params["name"])} is no tool of this key. List them with tools/list.`)
      }
      return yield* callTool(tool, principal, params["arguments"])
    }
    case "resources/list":
      return { resources: resources(yield* guides) }
    case "resources/templates/list":
      return { resourceTemplates: [] }
    case "resources/read":
      return yield* orBadParams(readResource(yield* guides, params["uri"]), "No resource has this URI.")
    case "prompts/list":
      return { prompts: prompts(yield* guides) }
    case "prompts/get": {
      const { arguments: values, name } = params
      const goal: unknown = Object(values).goal
      return yield* orBadParams(promptOf(yield* guides, name, goal), "No prompt has this name.")
    }
    default:
      return yield* new RpcError({ code: -32_601, reason: `This server has no method ${method}.` })
  }
})

const failed = (id: string | number | null, { code, reason }: RpcError) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: reason }
})

/** Answers one message. There are no sessions, so any node answers any message, and a restart interrupts nothing. */
const answered = Effect.fnUntraced(function*(served: Served, message: unknown) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const revision = headers["mcp-protocol-version"]
  if (revision !== undefined && !revisions.includes(revision)) {
    const reason = `This server speaks ${revisions.join(" and ")}, not ${revision}.`
    return HttpServerResponse.jsonUnsafe(failed(null, new RpcError({ code: -32_600, reason })), { status: 400 })
  }
  const request = Schema.decodeUnknownOption(Request)(message)
  if (Option.isNone(request)) {
    const reason = "The body must be one message of JSON-RPC 2.0."
    return HttpServerResponse.jsonUnsafe(failed(null, new RpcError({ code: -32_600, reason })), { status: 400 })
  }
  const { id, method, params = {} } = request.value
  // A notification, or an answer to a question that this server never asks.
  if (id === undefined || method === undefined) return HttpServerResponse.empty({ status: 202 })
  const reply = yield* resultOf(served, method, params).pipe(
    Effect.map((result) => ({ jsonrpc: "2.0", id, result })),
    Effect.catchTag("RpcError", (error) => Effect.succeed(failed(id, error)))
  )
  return HttpServerResponse.jsonUnsafe(reply)
})

/** The tools call the endpoints of a contract. They are made at the first use, so that an idle node does not hold them. */
export const mcpLayer = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  endpoints: HttpApi.HttpApi<Id, Groups>
) =>
  HttpApiBuilder.layer(contract).pipe(
    Layer.provide(endpointGroup(contract, "mcp", (handlers) =>
      Effect.gen(function*() {
        const calls = yield* OwnCalls
        const files = yield* FileSystem.FileSystem
        const read = Effect.provideService(listedGuides, FileSystem.FileSystem, files)
        const guides = yield* Effect.cached(Effect.orDie(read))
        const tools = yield* Effect.cached(Effect.sync(() => toolsOf(endpoints)))
        return handlers.handle(
          "call",
          ({ payload }) => Effect.provideService(answered({ guides, tools }, payload), OwnCalls, calls)
        )
      }))),
    Layer.provide(OwnCalls.layer)
  )
