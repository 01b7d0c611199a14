import { Effect } from "effect"
import { type Answer, OwnCalls } from "../../platform/calls/OwnCalls.ts"
import type { Principal } from "../../platform/http/Authentication.ts"
import { meantBy, unknownArgument } from "./toolArguments.ts"
import type { Tool } from "./Tools.ts"

type Arguments = Readonly<Record<string, unknown>>

const text = (value: string) => ({ type: "text", text: value })

const isRecord = (value: unknown): value is Arguments =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The answer without its QR code, and the code's bytes. An image as text would fill the model's context. */
const withoutQrCode = (value: unknown): readonly [unknown, string | undefined] => {
  if (!isRecord(value)) return [value, undefined]
  const [data, inner] = withoutQrCode(value["data"])
  const outer = typeof value["qr_code"] === "string" ? value["qr_code"] : inner
  return [
    {
      ...value,
      ...("data" in value && { data }),
      ...("qr_code" in value && { qr_code: "(the image beside this text)" })
    },
    outer
  ]
}

/** What a list says about its pages; the request's id and time are of no use to a model. */
const pageOf = (meta: unknown): Arguments => {
  if (!isRecord(meta)) return {}
  const { request_id: _, timestamp: __, ...page } = meta
  return Object.keys(page).length === 0 ? {} : { meta: page }
}

const succeeded = ({ body }: Answer) => {
  const { meta, success: _, ...facts } = isRecord(body) ? body : { data: body ?? null }
  if (facts["data"] === null) return { content: [text("Done.")] }
  const [shown, qrCode] = withoutQrCode({ ...facts, ...pageOf(meta) })
  const image = /^data:(image\/\w+);base64,(.*)$/.exec(qrCode ?? "")
  return {
    content: [
      ...(image === null ? [] : [{ type: "image", mimeType: image[1], data: image[2] }]),
      text(JSON.stringify(shown))
    ]
  }
}

const failure = (...lines: ReadonlyArray<string | undefined>) => ({
  isError: true,
  content: [text(lines.filter((line) => line !== undefined).join("\n"))]
})

const exampleOf = ({ input }: Tool) =>
  input.example === undefined ? undefined : `Example of arguments: ${JSON.stringify(input.example)}`

/** The API's error as sentences: what is wrong, in which fields, and what to do. */
const refused = (tool: Tool, { body, status }: Answer) => {
  const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {}
  const { doc_url, errors, message, retry_after, type } = error
  // The message names the first field itself.
  const fields = Array.isArray(errors) && errors.length > 1 ? errors.filter(isRecord) : []
  return failure(
    `${status} ${String(type)}: ${String(message)}`,
    ...fields.map(({ message, param }) => `- ${String(param)}: ${String(message)}`),
    typeof retry_after === "number" ? `Try again after ${retry_after} seconds.` : undefined,
    [400, 422].includes(status) ? exampleOf(tool) : undefined,
    typeof doc_url === "string" ? `What to do: ${doc_url}` : undefined
  )
}

/** Arguments as the endpoint takes them: in the path, in the query, and the others in the body. */
const requestOf = (tool: Tool, given: Arguments) => {
  const values: Arguments = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, meantBy(value, tool.input.properties[name] ?? {})])
  )
  const { idempotency_key: key } = values
  const query = new URLSearchParams()
  for (const name of tool.query) {
    for (const value of [values[name] ?? []].flat()) query.append(name, String(value))
  }
  const inPath = new Map([...tool.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, values[name]] as const))
  const isMissing = (value: unknown) => (typeof value !== "string" || value === "") && typeof value !== "number"
  const missing = [...inPath].filter(([, value]) => isMissing(value)).map(([name]) => name)
  const path = tool.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => encodeURIComponent(String(inPath.get(name)).toWellFormed())
  )
  const elsewhere = new Set(["idempotency_key", ...tool.query, ...inPath.keys()])
  const body = Object.fromEntries(Object.entries(values).filter(([name]) => !elsewhere.has(name)))
  const call = {
    method: tool.method,
    path: query.size === 0 ? path : `${path}?${query}`,
    ...(tool.hasBody && { body, isHeld: true }),
    ...(key !== undefined && { once: String(key) })
  }
  return { call, missing: missing.length === 0 ? undefined : missing.join(", ") }
}

/**
 * Calls a tool's endpoint as the caller. What goes wrong is a result, not an error of the protocol, so that the model
 * reads it and can correct itself.
 */
export const callTool = Effect.fn("callTool")(
  function*(tool: Tool, principal: Principal["Service"], given: unknown) {
    const { call } = yield* OwnCalls
    const values = given ?? {}
    if (!isRecord(values)) return failure("The arguments must be an object.", exampleOf(tool))
    const stray = unknownArgument(tool.input, values)
    if (stray !== undefined) return failure(stray, exampleOf(tool))
    const request = requestOf(tool, values)
    if (request.missing !== undefined) {
      return failure(`This tool needs a text or a number as ${request.missing}.`, exampleOf(tool))
    }
    const answer = yield* call(principal, request.call)
    return answer.status < 300 ? succeeded(answer) : refused(tool, answer)
  }
)
