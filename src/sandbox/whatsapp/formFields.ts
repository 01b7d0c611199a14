import { ByteSize, Effect, Option } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"

/** An uploaded file. */
export interface FormFile {
  readonly name: string
  readonly type: string
  readonly bytes: Uint8Array
}

/** A form: the trimmed text of each field, empty if it is absent, and its file. */
export interface FormFields {
  readonly field: (name: string) => string
  readonly file: FormFile | undefined
}

const fileOf = async (value: ReturnType<FormData["get"]>): Promise<FormFile | undefined> =>
  value === null || typeof value === "string" || value.size === 0
    ? undefined
    : { name: value.name, type: value.type, bytes: new Uint8Array(await value.arrayBuffer()) }

const urlEncoded = "application/x-www-form-urlencoded"

const read = async (body: ArrayBuffer, type: string): Promise<FormFields> => {
  const form = await new Response(body, { headers: { "content-type": type } }).formData()
  const text = (name: string) => {
    const value = form.get(name)
    return typeof value === "string" ? value.trim() : ""
  }
  return { field: text, file: await fileOf(form.get("file")) }
}

const none: FormFields = { field: () => "", file: undefined }

/** Reads the form in a request. A body that is too large, or not a form, has no fields. */
export const formFields = Effect.gen(function*() {
  const request = yield* HttpServerRequest.HttpServerRequest
  const body = yield* Effect.option(
    Effect.provideService(request.arrayBuffer, HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe("16 MiB"))
  )
  if (Option.isNone(body)) return none
  const { "content-type": given = "" } = request.headers
  const type = given.startsWith("multipart/") ? given : urlEncoded
  return yield* Effect.orElseSucceed(Effect.tryPromise(() => read(body.value, type)), () => none)
})
