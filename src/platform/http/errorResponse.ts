import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { type ApiErrorClass, apiErrors, wireOf } from "./ApiError.ts"

/** A failure that is one of the documented errors: an instance of a class with `wire` annotations. */
export interface ApiError extends Error {
  readonly _tag: string
}

const isKind = (kind: unknown): kind is ApiErrorClass =>
  Schema.isSchema(kind) && Schema.resolveAnnotations(kind)?.wire !== undefined

/** Whether a failure is one of the documented errors. */
export const isApiError = (error: unknown): error is ApiError => error instanceof Error && isKind(error.constructor)

const kindOf = (error: ApiError): ApiErrorClass => {
  const kind: unknown = error.constructor
  if (!isKind(kind)) throw new TypeError(`${error._tag} is no documented error`)
  return kind
}

type Encode = (error: unknown) => Effect.Effect<unknown, Schema.SchemaError>

const encoders = new WeakMap<ApiErrorClass, Encode>()

const encoderOf = (kind: ApiErrorClass): Encode => {
  const encoder = encoders.get(kind) ?? Schema.encodeUnknownEffect(Schema.Union(apiErrors(kind)))
  encoders.set(kind, encoder)
  return encoder
}

/** The status that a documented error is answered with. */
export const statusOf = (error: ApiError): number => wireOf(kindOf(error)).status

/** The answer of a documented error, for places outside an endpoint: the same body that an endpoint would encode. */
export const errorResponse = (error: ApiError): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const kind = kindOf(error)
  return encoderOf(kind)(error).pipe(
    Effect.orDie,
    Effect.map((body) => HttpServerResponse.jsonUnsafe(body, { status: wireOf(kind).status }))
  )
}
