import { Effect, Schema, SchemaGetter } from "effect"
import { Meta } from "../../values/Envelope.ts"
import { meta } from "./RequestContext.ts"

declare module "effect/Schema" {
  namespace Annotations {
    interface Augment {
      /** What an error class is called on the wire: `error.type` and `error.code`. */
      readonly wire?: WireName | undefined
    }
  }
}

/** The slug and the number of an error, stable for clients. */
export interface WireName {
  readonly type: string
  readonly code: number
}

/** Annotations of an error class: its HTTP status and its name on the wire. The table is `docs/http-status.md`. */
export const wire = (status: number, type: string, code: number) => ({ httpApiStatus: status, wire: { type, code } })

/**
 * A `Schema.TaggedError` that can be an answer: it has {@link wire} annotations, a `message` that says what to do, and
 * facts that are plain JSON.
 */
export interface ApiErrorClass extends Schema.Top {
  new(props: never): { readonly _tag: string; readonly message: string }
  readonly "Type": { readonly _tag: string; readonly message: string }
  readonly fields: Schema.Struct.Fields
}

/** The body of every answer that is not 2xx; the facts of the error stand beside `message`. */
export interface ErrorBody {
  readonly success: false
  readonly error: { readonly type: string; readonly code: number; readonly message: string }
  readonly meta: typeof Meta.Type
}

/** An error class as it stands in answers. */
export type OnTheWire<C extends ApiErrorClass> = Schema.Codec<C["Type"], ErrorBody>

/** The status and the name of an error class. A class without them is a mistake that stops the start. */
export const wireOf = (error: ApiErrorClass): WireName & { readonly status: number } => {
  const annotations = Schema.resolveAnnotations(error)
  if (annotations?.wire === undefined || annotations.httpApiStatus === undefined) {
    throw new Error(`${String(error)} lacks the annotations of wire(…)`)
  }
  return { ...annotations.wire, status: annotations.httpApiStatus }
}

/** The codec between an error and its body: no `_tag`, its facts beside type, code and message, and `meta`. */
const onTheWire = <C extends ApiErrorClass>(error: C): OnTheWire<C> => {
  const { code, status, type } = wireOf(error)
  const { _tag, ...facts } = error.fields
  const body = Schema.Struct({
    success: Schema.Literal(false),
    error: Schema.Struct({ type: Schema.Literal(type), code: Schema.Literal(code), message: Schema.String, ...facts }),
    meta: Meta
  })
  const codec = Schema.toType(body).pipe(
    Schema.decodeTo(Schema.toType(error), {
      decode: SchemaGetter.transform(({ error: { code: _, message: __, type: ___, ...rest } }) =>
        // The struct above is made of the class's own fields, so `rest` is what its constructor takes.
        new error(rest as never)
      ),
      // `message` is a getter of the class, which spreading an instance would lose.
      encode: SchemaGetter.transformEffect((error: C["Type"]) => {
        const { _tag: _, ...facts } = error
        return Effect.map(meta, (meta) => ({
          success: false as const,
          error: { type, code, ...facts, message: error.message },
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

/** The `error` option of an endpoint or a middleware: each class as it stands in answers. */
export const apiErrors = <const C extends ReadonlyArray<ApiErrorClass>>(
  ...classes: C
): ReadonlyArray<OnTheWire<C[number]>> => classes.map(codecOf)
