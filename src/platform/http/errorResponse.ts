import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type ApiErrorClass, apiErrors, wireOf } from "./ApiError.ts"

/** A documented error: an instance of a class with `wire` annotations. */
export interface ApiError extends Error {
  readonly _tag: string
}

const isKind = (kind: unknown): kind is ApiErrorClass =>
  Schema.isSchema(kind) && Schema.resolveAnnotations(kind)?.wire !== undefined

/** Whether a failure is one of the documented errors. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && isKind(error.constructor)

const kindOf = (error: ApiError): ApiErrorClass => {
  const kind: unknown = error.constructor
  if (!isKind(kind)) throw new TypeError(`${error._tag} is not a documented error`)
  return kind
}

type Encode = (error: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const encoders = new WeakMap<ApiErrorClass, Encode>()

const encoderOf = (kind: ApiErrorClass): Encode => {
  const encoder = encoders.get(kind) ?? Schema.encodeUnknownEffect(Schema.Union(apiErrors(kind)))
  encoders.set(kind, encoder)
  return encoder
}

/** The HTTP status of a documented error. */
export const statusOf = (error: ApiError): number => wireOf(kindOf(error)).status

/** The answer of a documented error outside an endpoint. An endpoint would encode the same body. */
export const errorResponse = (error: ApiError): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const kind = kindOf(error)
  return encoderOf(kind)(error).pipe(
    Effect.orDie,
    Effect.map((body) => HttpServerResponse.jsonUnsafe(body, { status: wireOf(kind).status }))
  )
}
