import { Effect, Schema, SchemaGetter } from "effect"
import { HttpServerResponse } from "effect/http"
import { oneLine, oneLineEach } from "../../values/messageText.ts"
import { Meta } from "../../values/Page.ts"
import { meta, RequestContext } from "./RequestContext.ts"

declare module "effect/Schema" {
  namespace Annotations {
    interface Augment {
      /** `error.type` and `error.code` of an error class in answers. */
      readonly wire?: WireName | undefined
    }
  }
}

/** The type and the number of an error. Clients rely on them, so they never change. */
export interface WireName {
  readonly type: string
  readonly code: number
}

/** Annotations of an error class: HTTP status, type and code. `docs/http-status.md` lists them all. */
export const wire = (status: number, type: string, code: number) => ({ httpApiStatus: status, wire: { type, code } })

/**
 * A `Schema.TaggedError` that can be an answer. It has {@link wire} annotations, a `message` that says what to do, and
 * fields that are plain JSON.
 */
export interface ApiErrorClass extends Schema.Top {
  new(props: never): { readonly _tag: string; readonly message: string }
  readonly "Type": { readonly _tag: string; readonly message: string }
  readonly fields: Schema.Struct.Fields
}

/**
 * The body of every answer that is not 2xx. The fields of the error stand beside `message`. Texts that quote the caller are
 * one line.
 */
export interface ErrorBody {
  readonly success: false
  readonly error: {
    readonly type: string
    readonly code: number
    readonly message: string
    readonly doc_url: string
  }
  readonly meta: typeof Meta.Type
}

/** The codec between an error class and the body of its answer. */
export type OnTheWire<C extends ApiErrorClass> = Schema.Codec<C["Type"], ErrorBody>

/** The status, type and code of an error class. A class without them is a bug that stops the start. */
export const wireOf = (error: ApiErrorClass): WireName & { readonly status: number } => {
  const annotations = Schema.resolveAnnotations(error)
  if (annotations?.wire === undefined || annotations.httpApiStatus === undefined) {
    throw new Error(`${String(error)} lacks the annotations of wire(…)`)
  }
  return { ...annotations.wire, status: annotations.httpApiStatus }
}

/** Where an error is explained, below `PUBLIC_URL`. Clients may store it, so it never changes. */
export const docUrl = (publicBase: string, type: string): string => `${publicBase}/docs/guides/errors#${type}`

const DocUrl = Schema.String.annotate({
  description: "The page that says what to do: an absolute URL if the operator has set PUBLIC_URL, otherwise a path."
})

/** Builds that codec. The body has no `_tag`; the fields stand beside type, code and message. */
const onTheWire = <C extends ApiErrorClass>(error: C): OnTheWire<C> => {
  const { code, status, type } = wireOf(error)
  const { _tag, ...facts } = error.fields
  const body = Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({
      type: Schema.Literal(type),
      code: Schema.Literal(code),
      message: Schema.String,
      doc_url: DocUrl,
      ...facts
    }),
    meta: Meta
  })
  const codec = Schema.toType(body).pipe(
    Schema.decodeTo(Schema.toType(error), {
      decode: SchemaGetter.transform(({ error: { code: _, doc_url: __, message: ___, type: ____, ...rest } }) =>
        // The struct above has exactly the fields of the class, so `rest` matches its constructor.
        new error(rest as never)
      ),
      // `message` is a getter of the class; a spread of the instance would lose it.
      encode: SchemaGetter.transformEffect((error: C["Type"]) => {
        const { _tag: _, ...facts } = error
        return Effect.zipWith(meta, RequestContext, (meta, { publicBase }) => ({
          success: false as const,
          error: {
            type,
            code,
            ...oneLineEach(facts),
            message: oneLine(error.message),
            doc_url: docUrl(publicBase, type)
          },
          meta
        }))
      })
    })
  )
  return codec.annotate({ httpApiStatus: status, identifier: error.name })
}

const codecs = new WeakMap<ApiErrorClass, OnTheWire<ApiErrorClass>>()

const codecOf = <C extends ApiErrorClass>(error: C): OnTheWire<C> => {
  const codec = codecs.get(error) ?? onTheWire(error)
  codecs.set(error, codec)
  return codec
}

/** The `error` option of an endpoint or a middleware. */
export const apiErrors = <const C extends ReadonlyArray<ApiErrorClass>>(
  ...classes: C
): ReadonlyArray<OnTheWire<C[number]>> => classes.map(codecOf)

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

/** `error.type` of a documented error. */
export const typeOf = (error: ApiError): string => wireOf(kindOf(error)).type

/** The answer of a documented error outside an endpoint. An endpoint would encode the same body. */
export const errorResponse = (error: ApiError): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
  const kind = kindOf(error)
  return encoderOf(kind)(error).pipe(
    Effect.orDie,
    Effect.map((body) => HttpServerResponse.jsonUnsafe(body, { status: wireOf(kind).status }))
  )
}
