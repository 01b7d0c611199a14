/** Writes the generated part of the Python SDK: models, events, errors, and the resources of both clients. */
import { type Contract, type JsonSchema, type Operation, partsOf, referenceOf, resourcesOf } from "./contract.ts"
import { errorClassOf, familyOf } from "./families.ts"
import { argument, docstring, indented, isNullable, pascal, PythonTypes } from "./pythonTypes.ts"

const head = (doc: string) =>
  `"""${doc} Generated from the contract; do not edit."""\n\nfrom __future__ import annotations\n\n`

const exported = (names: ReadonlyArray<string>) =>
  `\n__all__ = [\n${names.toSorted().map((name) => `    ${JSON.stringify(name)},\n`).join("")}]\n`

/** A name as Python writes it. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const typing = "from typing import Any, Dict, List, Optional, Union\n\n"
const typesOfModels = `from datetime import date, datetime\n${typing}`
  + `from pydantic import Field\nfrom typing_extensions import Literal\n\nfrom .._compat import Model\n\n\n`

interface Signatures {
  readonly sent: PythonTypes
  readonly received: PythonTypes
}

const declared = (types: PythonTypes) => [...types.classes.values()].join("\n\n")

/** The object that a body is, so that its fields become arguments. */
const fieldsOf = (body: JsonSchema | undefined, { models }: Contract): JsonSchema => {
  if (body === undefined) return {}
  return models[referenceOf(body) ?? ""] ?? body
}

interface Argument {
  readonly name: string
  readonly text: string
  readonly isRequired: boolean
  /** What the dictionary of values says, in which null is a value if the API takes it. */
  readonly entry: string
  readonly isNullable: boolean
}

const argumentOf = (
  { isRequired, name, schema, scope }: {
    readonly name: string
    readonly schema: JsonSchema
    readonly isRequired: boolean
    readonly scope: string
  },
  types: PythonTypes
): Argument => {
  const type = types.type(schema, `${scope}${pascal(name)}`)
  const nullable = isNullable(schema)
  const word = argument(name)
  const optional = nullable ? `Union[${type}, NotGiven] = NOT_GIVEN` : `Optional[${type}] = None`
  return {
    name,
    text: `${word}: ${isRequired ? type : optional}`,
    isRequired,
    entry: `${JSON.stringify(name)}: ${word}`,
    isNullable: nullable
  }
}

const dictionary = (entries: ReadonlyArray<Argument>) => `{${entries.map(({ entry }) => entry).join(", ")}}`

const values = (all: ReadonlyArray<Argument>) =>
  `given(${dictionary(all.filter(({ isNullable }) => isNullable))}, ${
    dictionary(all.filter(({ isNullable }) => !isNullable))
  })`

const assertDistinct = (id: string, names: ReadonlyArray<string>) => {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`${id} takes two values of the name ${twice}`)
}

const returnedOf = (kind: Operation["result"]["kind"], type: string, isAsync: boolean) =>
  ({
    data: type,
    json: type,
    list: `${isAsync ? "AsyncPageList" : "PageList"}[${type}]`,
    none: "None",
    blob: "File"
  })[kind]

const method = (operation: Operation, { contract, isAsync, received, sent }: Signatures & {
  readonly contract: Contract
  readonly isAsync: boolean
}): string => {
  const { body, doc, id, keyed, name, pathParameters, query, resource, result } = operation
  const scope = pascal([...resource, name].join("."))
  const { properties = {}, required = [] } = fieldsOf(body, contract)
  const inPath = pathParameters.map(({ name, schema }) => argumentOf({ name, schema, isRequired: true, scope }, sent))
  const inBody = Object.entries(properties).map(([name, schema]) =>
    argumentOf({ name, schema, isRequired: required.includes(name), scope }, sent)
  )
  const inQuery = query.map(({ name, required = false, schema }) =>
    argumentOf({ name, schema, isRequired: required, scope }, sent)
  )
  const keywords = [...inBody, ...inQuery]
  assertDistinct(id, [...inPath, ...keywords].map(({ name }) => name))
  const parameters = [
    "self",
    ...inPath.map(({ text }) => text.replace(": int", ": Union[int, str]")),
    "*",
    ...keywords.filter(({ isRequired }) => isRequired).map(({ text }) => text),
    ...keywords.filter(({ isRequired }) => !isRequired).map(({ text }) => text),
    "request_options: Optional[RequestOptions] = None"
  ]
  const call = [
    JSON.stringify(operation.method),
    JSON.stringify(operation.path),
    ...(inPath.length === 0 ? [] : [`at=${dictionary(inPath)}`]),
    ...(inQuery.length === 0 ? [] : [`query=${values(inQuery)}`]),
    ...(body === undefined ? [] : [`body=${values(inBody)}`]),
    ...(keyed ? ["keyed=True"] : []),
    "options=request_options"
  ]
  const type = "schema" in result ? received.type(result.schema, `${scope}Result`) : "None"
  const isAwaited = isAsync && result.kind !== "list"
  const sentence = `${isAwaited ? "await " : ""}self._transport.${result.kind}(call, ${
    "schema" in result ? type : "None"
  })`
  const ending = result.kind === "none"
    ? [sentence]
    : result.kind === "list"
    ? [`return ${sentence}`]
    : [`result: ${returnedOf(result.kind, type, isAsync)} = ${sentence}`, "return result"]
  return [
    `${isAwaited ? "async " : ""}def ${argument(snake(name))}(`,
    ...parameters.map((parameter) => `    ${parameter},`),
    `) -> ${returnedOf(result.kind, type, isAsync)}:`,
    `    ${indented(docstring(doc).trimEnd())}`,
    `    call = Call(${call.join(", ")})`,
    ...ending.map((line) => `    ${line}`),
    ""
  ].join("\n")
}

const classOf = (resource: ReadonlyArray<string>, isAsync: boolean) =>
  `${isAsync ? "Async" : ""}${resource.length === 0 ? "Resources" : `${pascal(resource.join("."))}Resource`}`

const resourceClass = (
  resource: ReadonlyArray<string>,
  context: Signatures & { readonly contract: Contract; readonly isAsync: boolean }
) => {
  const { contract, isAsync } = context
  const { inside, operations } = partsOf(resource, contract)
  const made = inside.map((other) => `self.${snake(other.at(-1) ?? "")} = ${classOf(other, isAsync)}(transport)\n`)
  const transport = isAsync ? "AsyncTransport" : "Transport"
  const doc = resource.length === 0
    ? "All resources of the API."
    : `Operations at client.${resource.map(snake).join(".")}.`
  const members = [
    `"""${doc}"""\n`,
    `def __init__(self, transport: ${transport}) -> None:\n    self._transport = transport\n${
      made.map((line) => `    ${line}`).join("")
    }`,
    ...operations.map((operation) => method(operation, context))
  ]
  return `class ${classOf(resource, isAsync)}:\n    ${indented(members.join("\n").trimEnd())}\n`
}

const resources = (contract: Contract, signatures: Signatures, isAsync: boolean) => {
  const all = [...resourcesOf(contract)].toReversed()
  const context = { ...signatures, contract, isAsync }
  const classes = [...all, []].map((resource) => resourceClass(resource, context))
  const [list, transport] = isAsync ? ["AsyncPageList", "AsyncTransport"] : ["PageList", "Transport"]
  return [
    head(`The operations of the ${isAsync ? "asynchronous" : "synchronous"} client.`),
    "from datetime import date, datetime\nfrom typing import Any, Dict, List, Mapping, Optional, Sequence, Union\n\n",
    "from typing_extensions import Literal\n\n",
    `from .._pages import ${list}\n`,
    `from .._transport import NOT_GIVEN, Call, File, NotGiven, RequestOptions, ${transport}, given\n`,
    "from .models import *  # noqa: F401, F403\nfrom .params import *  # noqa: F401, F403\n\n\n",
    classes.join("\n\n")
  ].join("")
}

const errors = ({ errors, models }: Contract) => {
  const own = errors.filter(({ name, status }) => errorClassOf(name) !== familyOf(status))
  const types = new PythonTypes(models, false)
  const classes = own.map(({ facts, name, status, type }) => {
    const fields = Object.entries(facts.properties ?? {}).map(([field, schema]) =>
      `    ${argument(field)}: ${types.type(schema, `${name}${pascal(field)}`)}\n`
    )
    return `class ${errorClassOf(name)}(${familyOf(status)}):\n    """${status} \`\`${type}\`\`."""\n${
      fields.length === 0 ? "" : `\n${fields.join("")}`
    }`
  })
  const families = [...new Set(errors.map(({ status }) => familyOf(status)))].toSorted()
  return [
    head("The classes of single types of errors."),
    "from datetime import datetime\nfrom typing import Dict, List, Optional, Type, Union\n\nfrom typing_extensions import Literal\n\n",
    `from .._errors import (\n${["ApiError", ...families].map((name) => `    ${name},\n`).join("")})\n\n\n`,
    classes.join("\n\n"),
    `\n\n#: The class of each type.\nERROR_CLASSES: Dict[str, Type[ApiError]] = {\n${
      errors.map(({ name, type }) => `    ${JSON.stringify(type)}: ${errorClassOf(name)},\n`).join("")
    }}\n`,
    exported(own.map(({ name }) => errorClassOf(name)))
  ].join("")
}

const events = ({ events, models }: Contract) => {
  const types = new PythonTypes(models, false)
  for (const { data, description, name } of events) {
    const properties = { event: { enum: [name] }, data }
    types.declare(`${pascal(name)}Event`, { properties, required: ["event", "data"] }, description)
  }
  const classes = [...types.classes].map(([name, text]) =>
    name.endsWith("Event") ? text.replace("(Model)", "(WebhookEvent)") : text
  )
  return [
    head("The events that webhooks send."),
    typesOfModels,
    `class WebhookEvent(Model):
    """Any event. Events that this version knows are of a subclass."""

    id: str
    """Identical in every attempt and at every webhook: deduplicate by it."""
    event: str
    mode: str
    """\`\`test\`\` for what a test key has caused, otherwise \`\`live\`\`."""
    timestamp: datetime
    """When the event happened."""
    data: Any


`,
    classes.join("\n\n"),
    `\n\n#: The class of each event.\nEVENTS = {\n${
      events.map(({ name }) => `    ${JSON.stringify(name)}: ${pascal(name)}Event,\n`).join("")
    }}\n`,
    exported(["WebhookEvent", ...types.classes.keys()])
  ].join("")
}

const models = (received: PythonTypes) =>
  head("The answers of the service.") + typesOfModels + declared(received) + exported([...received.classes.keys()])

const params = (sent: PythonTypes) =>
  [
    head("What requests contain besides plain values."),
    "from datetime import date, datetime\nfrom typing import Any, Mapping, Optional, Sequence, Union\n\n",
    "from typing_extensions import Literal, NotRequired, TypedDict\n\n\n",
    declared(sent),
    exported([...sent.classes.keys()])
  ].join("")

/** The generated files by their path below `messaging_service/_generated`. */
export const pythonFiles = (contract: Contract, version: string): Readonly<Record<string, string>> => {
  const signatures = { sent: new PythonTypes(contract.models, true), received: new PythonTypes(contract.models, false) }
  const synchronous = resources(contract, signatures, false)
  return {
    "__init__.py": "\"\"\"Generated from the contract; do not edit.\"\"\"\n",
    "async_resources.py": resources(contract, signatures, true),
    "errors.py": errors(contract),
    "events.py": events(contract),
    "models.py": models(signatures.received),
    "params.py": params(signatures.sent),
    "resources.py": synchronous,
    "version.py": `"""The version of this package."""\n\nVERSION = ${JSON.stringify(version)}\n`
  }
}
