import { Context, Option, Schema, SchemaAST } from "effect"
import { nearest } from "../../../values/nearest.ts"

/** Names of a request that are told; a client that sends more has one mistake, not many. */
const maxTold = 20

const maxLength = 64

/** A longer body is not parsed for the names of its inner objects. */
const maxParsed = 16 * 1024

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** Whether the answer has the field `warnings`, which tells them. All others have the header. */
export const HasWarnings = Context.Reference<boolean>(
  "messaging-service/platform/http/names/UnknownNames/HasWarnings",
  {
    defaultValue: () => false
  }
)

/** Whether the endpoint reads a parameter that its query does not declare, because callers choose a part of its name. */
export const ReadsParameter = Context.Reference<(name: string) => boolean>(
  "messaging-service/platform/http/names/UnknownNames/ReadsParameter",
  {
    defaultValue: () => () => false
  }
)

/** Fields, and the names that other services give them, too far from these to be found by their letters. */
const otherNames: ReadonlyArray<readonly [fields: ReadonlyArray<string>, names: ReadonlyArray<string>]> = [
  [["send_at"], ["scheduled_at", "schedule_at", "scheduledat", "sendat", "deliver_at"]],
  [["content", "html", "text", "body"], ["text", "body", "message", "content"]],
  [
    ["to", "recipients", "email", "phone_number"],
    ["to", "recipient", "phone", "phone_number", "number", "email", "address", "chatid", "chat_id"]
  ],
  [["session_id"], ["session"]],
  [["code"], ["otp", "pin"]],
  [["url"], ["endpoint"]],
  [["events"], ["event_types"]]
]

/** The fields that a name may stand for, the likeliest first. */
const otherwise = new Map(otherNames.flatMap(([fields, names]) => names.map((name) => [name, fields] as const)))

/** The names of a JSON form; undefined if it takes any. */
const namesOf = (ast: SchemaAST.AST): ReadonlyArray<string> | undefined => {
  if (SchemaAST.isSuspend(ast)) return namesOf(ast.thunk())
  if (SchemaAST.isUnion(ast)) {
    const parts = ast.types.map(namesOf)
    return parts.some((names) => names === undefined) ? undefined : [...new Set(parts.flatMap((names) => names ?? []))]
  }
  if (!SchemaAST.isObjects(ast) || ast.indexSignatures.length > 0) return undefined
  return ast.propertySignatures.map(({ name }) => String(name))
}

const encodedNames = (schema: Schema.Top | undefined) =>
  schema === undefined ? undefined : namesOf(Schema.toEncoded(schema).ast)

/** A name that a request has and its endpoint does not know, with the names that belong in its place. */
interface UnknownName {
  readonly name: string
  /** With the object that holds it: `steps[0].contnet`. */
  readonly path: string
  readonly known: ReadonlyArray<string>
}

/** The parts of a form that a value may have. */
const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> =>
  SchemaAST.isSuspend(ast) ? partsOf(ast.thunk()) : SchemaAST.isUnion(ast) ? ast.types.flatMap(partsOf) : [ast]

/** Whether the value has the constants by which a form differs from others, such as the channel of a step. */
const hasConstants = ({ propertySignatures }: SchemaAST.Objects, value: object) =>
  propertySignatures.every(({ name, type }) => !SchemaAST.isLiteral(type) || Reflect.get(value, name) === type.literal)

/** The unknown names of a value of these forms, and of all objects and arrays within it. The outermost object has no path. */
const unknownIn = (forms: ReadonlyArray<SchemaAST.AST>, value: unknown, path: string): ReadonlyArray<UnknownName> => {
  if (typeof value !== "object" || value === null) return []
  const parts = forms.flatMap(partsOf)
  if (Array.isArray(value)) {
    const elements = parts.flatMap((part) => SchemaAST.isArrays(part) ? part.rest : [])
    return value.flatMap((element, index) => unknownIn(elements, element, `${path}[${index}]`))
  }
  const objects = parts.filter(SchemaAST.isObjects).filter((part) => hasConstants(part, value))
  // An object of any names has no unknown ones, and of one that fits no form the schema tells the fault.
  if (objects.length === 0 || objects.some(({ indexSignatures }) => indexSignatures.length > 0)) return []
  const properties = objects.flatMap(({ propertySignatures }) => propertySignatures)
  const known = properties.map(({ name }) => String(name))
  return Object.keys(value).flatMap((name) => {
    const types = properties.filter((property) => property.name === name).map(({ type }) => type)
    const at = path === "" ? name : `${path}.${name}`
    if (types.length > 0) return unknownIn(types, Reflect.get(value, name), at)
    return path === "" ? [] : [{ name, path: at, known }]
  })
}

/** Whether a form has an object or array within it. */
const hasInner = (ast: SchemaAST.AST): boolean =>
  partsOf(ast).some((part) =>
    SchemaAST.isObjects(part) &&
    part.propertySignatures.some(({ type }) =>
      partsOf(type).some((inner) => SchemaAST.isObjects(inner) || SchemaAST.isArrays(inner))
    )
  )

/** The known name that an unknown one stands for. */
const meantBy = (unknown: string, known: ReadonlyArray<string>): string | undefined => {
  const name = unknown.toLowerCase()
  return otherwise.get(name)?.find((one) => known.includes(one)) ?? nearest(name, known)[0]
}

const cut = (text: string) => text.slice(0, maxLength)

const messageOf = (what: string, { known, name, path }: UnknownName) => {
  const meant = meantBy(cut(name), known)
  return `unknown ${what} "${cut(path)}" was ignored${meant === undefined ? "" : `; did you mean "${meant}"?`}`
}

/** What a request keeps for its answer. */
interface Facts {
  readonly answerHeaders: Map<string, string>
  warnings?: ReadonlyArray<string>
  unknownFields?: ReadonlyArray<string>
}

interface Endpoint {
  readonly annotations: Context.Context<never>
  readonly query: Schema.Top | undefined
  readonly payload: ReadonlyMap<string, { readonly schemas: ReadonlyArray<Schema.Top> }>
}

/** In a header: visible ASCII without a comma. */
const inHeader = (name: string) => name.toWellFormed().replaceAll(/[^!-+\--~]/gu, encodeURIComponent)

/** The names of the object that lacks a field, such as `recipients[3].to`. */
export const namesBeside = (body: unknown, param: string): ReadonlyArray<string> => {
  let holder = body
  for (const segment of param.split(/[.[\]]+/).slice(0, -1)) {
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, segment)) return []
    holder = Reflect.get(holder, segment)
  }
  return typeof holder === "object" && holder !== null
    ? Object.keys(holder).slice(0, maxTold).map((name) => name.slice(0, maxLength))
    : []
}

/** Says of each missing field which other name its value has. */
export const withOtherNames = <V extends { readonly message: string; readonly param: string; readonly type: string }>(
  violations: ReadonlyArray<V>,
  namesFor: (param: string) => ReadonlyArray<string>
): ReadonlyArray<V> =>
  violations.map((violation) => {
    const { message, param, type } = violation
    if (type !== "missing") return violation
    const field = param.slice(param.lastIndexOf(".") + 1)
    const wanted = field === "html" ? [field, "text"] : [field]
    const given = namesFor(param).find((name) => meantBy(name, wanted) !== undefined)
    if (given === undefined) return violation
    const meant = meantBy(given, wanted)
    return { ...violation, message: `${message}; use ${meant === field ? "it" : `"${meant}"`} instead of "${given}"` }
  })

/**
 * Notes the names of a request that its endpoint does not know. They are ignored, and the answer tells them: in `warnings`
 * if it has that field, else in the header `X-Unknown-Fields`.
 */
export const makeUnknownNames = (endpoint: Endpoint) => {
  const bodies = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
  const forms = bodies.map((schema) => Schema.toEncoded(schema).ast)
  const isParsed = forms.some(hasInner)
  const inBody = bodies.map(encodedNames)
  const fields = inBody.length === 0 || inBody.some((names) => names === undefined)
    ? undefined
    : new Set(inBody.flatMap((names) => names ?? []))
  const parameters = new Set(encodedNames(endpoint.query) ?? [])
  const hasWarnings = Context.get(endpoint.annotations, HasWarnings)
  const isRead = Context.get(endpoint.annotations, ReadsParameter)

  const note = (facts: Facts, what: string, all: ReadonlyArray<UnknownName>) => {
    const unknown = all.slice(0, maxTold)
    facts.warnings = [...(facts.warnings ?? []), ...unknown.map((one) => messageOf(what, one))]
    if (what === "field") {
      facts.unknownFields = unknown.filter(({ name, path }) => name === path).map(({ name }) => cut(name))
    }
    if (hasWarnings) return
    const told = facts.answerHeaders.get("x-unknown-fields")
    const names = [...(told === undefined ? [] : [told]), ...unknown.map(({ path }) => inHeader(cut(path)))]
    facts.answerHeaders.set("x-unknown-fields", names.join(", "))
  }

  const strange = (names: ReadonlyArray<string>, known: ReadonlySet<string>): ReadonlyArray<UnknownName> =>
    names.filter((name) => !known.has(name)).map((name) => ({ name, path: name, known: [...known] }))

  /** Those of a body's inner objects. A long text is not parsed once more for them. */
  const within = (text: string): ReadonlyArray<UnknownName> => {
    if (!isParsed || text.length > maxParsed || !text.includes("{", text.indexOf("{") + 1)) return []
    return unknownIn(forms, Option.getOrUndefined(parsed(text)), "")
  }

  return {
    /** The names of the body's outermost object, and its text. */
    inBody: (facts: Facts, names: ReadonlyArray<string>, text: string) => {
      if (fields === undefined) return
      const unknown = [...strange(names, fields), ...within(text)]
      if (unknown.length > 0) note(facts, "field", unknown)
    },
    inQuery: (facts: Facts, names: ReadonlyArray<string>) => {
      const unknown = strange(names.filter((name) => !isRead(name)), parameters)
      if (unknown.length > 0) note(facts, "parameter", unknown)
    }
  }
}
