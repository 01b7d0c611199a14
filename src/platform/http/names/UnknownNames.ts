import { Context, Schema, SchemaAST } from "effect"
import { nearest } from "../../../values/nearest.ts"

/** Names of a request that are told; a client that sends more has one mistake, not many. */
const maxTold = 20

const maxLength = 64

/** Whether the answer has the field `warnings`, which tells them. All others have the header. */
export const HasWarnings = Context.Reference<boolean>(
  "messaging-service/platform/http/names/UnknownNames/HasWarnings",
  {
    defaultValue: () => false
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

/** The known name that an unknown one stands for. */
const meantBy = (unknown: string, known: ReadonlyArray<string>): string | undefined => {
  const name = unknown.toLowerCase()
  return otherwise.get(name)?.find((one) => known.includes(one)) ?? nearest(name, known)[0]
}

const messageOf = (what: string, name: string, known: ReadonlyArray<string>) => {
  const meant = meantBy(name, known)
  return `unknown ${what} "${name}" was ignored${meant === undefined ? "" : `; did you mean "${meant}"?`}`
}

/** What a request keeps for its answer. */
interface Facts {
  readonly answerHeaders: Map<string, string>
  warnings?: ReadonlyArray<string>
  unknownFields?: ReadonlyArray<string>
}

interface Asked {
  readonly names: ReadonlyArray<string>
  readonly known: ReadonlySet<string>
}

interface Compared {
  readonly unknown: ReadonlyArray<string>
  readonly known: ReadonlySet<string>
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
  const inBody = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas).map(encodedNames)
  const fields = inBody.length === 0 || inBody.some((names) => names === undefined)
    ? undefined
    : new Set(inBody.flatMap((names) => names ?? []))
  const parameters = new Set(encodedNames(endpoint.query) ?? [])
  const hasWarnings = Context.get(endpoint.annotations, HasWarnings)

  const note = (facts: Facts, what: string, { known, unknown }: Compared) => {
    const names = unknown.slice(0, maxTold).map((name) => name.slice(0, maxLength))
    facts.warnings = [...(facts.warnings ?? []), ...names.map((name) => messageOf(what, name, [...known]))]
    if (what === "field") facts.unknownFields = names
    if (hasWarnings) return
    const told = facts.answerHeaders.get("x-unknown-fields")
    const all = [...(told === undefined ? [] : [told]), ...names.map(inHeader)]
    facts.answerHeaders.set("x-unknown-fields", all.join(", "))
  }

  const check = (facts: Facts, what: string, { known, names }: Asked) => {
    const unknown = names.filter((name) => !known.has(name))
    if (unknown.length > 0) note(facts, what, { known, unknown })
  }

  return {
    /** The names of the body's outermost object. */
    inBody: (facts: Facts, names: ReadonlyArray<string>) => {
      if (fields !== undefined) check(facts, "field", { known: fields, names })
    },
    inQuery: (facts: Facts, names: ReadonlyArray<string>) => check(facts, "parameter", { known: parameters, names })
  }
}
