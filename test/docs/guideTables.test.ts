/** The tables of the guides that put names of other services, or of channels, beside ours: each of our names exists. */
import { assert, describe, it } from "@effect/vitest"
import { knownPatterns } from "../../src/events/EventPattern.ts"
import { endpoints } from "../contract/contract.ts"
import { type Names, namesOf, namesOfBody, namesOfEvents } from "../contract/document.ts"
import { pages, read } from "./documents.ts"

type Row = ReadonlyArray<string>

/** The rows of each table of a page, without its head. */
const tablesOf = (page: string): ReadonlyArray<ReadonlyArray<Row>> =>
  [...read(page).matchAll(/^\|.*\|\n\|[-|]+\|\n((?:\|.*\|\n?)+)/gm)].map(([, rows = ""]) =>
    rows.trim().split("\n").map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()))
  )

/** What a cell shows as code. What it says is not supported names nothing of ours. */
const codeIn = (cell: string): Row =>
  [...cell.replaceAll(/`[^`]*` is not supported/g, "").matchAll(/`([^`]*)`/g)].map(([, code = ""]) => code)

/** A request, such as `GET /v1/phone/validate?number=…`. */
const request = /^(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^?]*)(?:\?(\w+)=.*)?$/

const endpointOf = (code: string) => {
  const [, method, path = ""] = request.exec(code) ?? []
  return endpoints.find((each) => each.method === method && each.path.replaceAll(/:(\w+)/g, "{$1}") === path)
}

/** Values, not names: addresses, a key, a media type, a scheme, and the text of an example. */
const isValue = (code: string) => /^(https:\/\/messaging\.example\.com|sk_live_…|text\/plain|data:)$/.test(code)

/** The names in code such as `recipients[].variables`, `type: "image"` or `content: {url, filename}`, and their words. */
const partsOf = (code: string) => {
  const names = code.replaceAll(/"[^"]*"|…/g, "").replaceAll(/\[\]?|\]/g, "")
  const [, outer, inner] = /^(\w+): \{(.*)\}$/.exec(names) ?? []
  const words = [...code.matchAll(/(?:^|(?:type|channel|status): )"([a-z_]+)"/g)].map(([, word = ""]) => word)
  return {
    words,
    paths: (inner ?? names).split(/[,{}]/).map((name) => name.replace(/:.*/, "").trim()).filter((name) => name !== "")
      .map((name) => outer === undefined ? name : `${outer}.${name}`)
  }
}

/** Whether a path such as `content.body` ends one of these. */
const hasPath = ({ paths }: Names, path: string) => paths.some((each) => each === path || each.endsWith(`.${path}`))

/** Names and words in a cell's code that the contract does not have. */
const unknownIn = (code: string, known: Names): Row => {
  if (isValue(code) || knownPatterns.includes(code)) return []
  if (request.test(code)) {
    const query = request.exec(code)?.[3]
    const endpoint = endpointOf(code)
    return endpoint !== undefined && (query === undefined || namesOf(endpoint).paths.includes(query)) ? [] : [code]
  }
  const header = /^([A-Za-z-]+)(?:: .*)?$/.exec(code)?.[1]?.toLowerCase()
  if (header !== undefined && known.headers.includes(header)) return []
  const { paths, words } = partsOf(code)
  return [
    ...paths.filter((path) => !hasPath(known, path) && !(code === path && known.words.includes(path))),
    ...words.filter((word) => !known.words.includes(word))
  ]
}

const union = (...all: ReadonlyArray<Names>): Names => ({
  paths: all.flatMap(({ paths }) => paths),
  words: all.flatMap(({ words }) => words),
  headers: all.flatMap(({ headers }) => headers)
})

/** The names of all requests that a page shows, and of all events. */
const namesOn = (page: string) => {
  const shown = [...read(page).matchAll(/`([^`]*)`/g)].flatMap(([, code = ""]) => endpointOf(code) ?? [])
  return union(namesOfEvents, ...shown.map(namesOf))
}

describe("the tables of the guides", () => {
  for (const page of pages.filter((each) => /^docs\/guides\/from-\w+\.md$/.test(each))) {
    it(`each of our requests, fields, events and headers in ${page} exists`, () => {
      const known = namesOn(page)
      const rows = tablesOf(page).flat()
      assert.isAbove(rows.length, 15)
      for (const [theirs = "", ours = ""] of rows) {
        // "The same" stands for the names in the other column.
        const cells = /^the same(?! path)/.test(ours) ? [ours, theirs] : [ours]
        const unknown = cells.flatMap(codeIn).flatMap((code) => unknownIn(code, known))
        assert.deepStrictEqual(unknown, [], `| ${theirs} | ${ours} |`)
      }
    })
  }

  it("each name in docs/guides/channels.md is one of its channel's requests, answers and events", () => {
    const [channels = [], forms = []] = tablesOf("docs/guides/channels.md")
    for (const column of [1, 2, 3, 4]) {
      const cells = channels.map((row) => row[column] ?? "")
      const [send, ...others] = cells.flatMap(codeIn).flatMap((code) => endpointOf(code) ?? [])
      if (send === undefined) return assert.fail(`no request in column ${column}`)
      const body = namesOfBody(send)
      const all = union(namesOfEvents, ...[send, ...others].map(namesOf))
      for (const [name = "", ...row] of channels) {
        const known = ["Recipient", "Text", "Sender"].includes(name) ? body : all
        const unknown = codeIn(row[column - 1] ?? "").flatMap((code) => unknownIn(code, known))
        assert.deepStrictEqual(unknown, [], `${name} of ${send.path}`)
      }
      const status = channels.find(([name]) => name === "Status of the answer")?.[column]
      assert.include(send.statuses, Number(status))
    }
    const known = union(...endpoints.map(namesOf))
    for (const [form = ""] of forms) {
      assert.deepStrictEqual(codeIn(form).flatMap((code) => unknownIn(code, known)), [], form)
    }
  })

  it("each request that a guide names is one of the contract", () => {
    for (const page of pages.filter((each) => each.startsWith("docs/guides/"))) {
      const named = [...read(page).matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^`]*)`/g)].map(([, code = ""]) =>
        code
      )
      assert.deepStrictEqual(named.filter((code) => endpointOf(code) === undefined), [], page)
    }
  })
})
