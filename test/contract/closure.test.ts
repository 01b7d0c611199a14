import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import manifest from "../../package.json" with { type: "json" }

const src = NodeUrl.fileURLToPath(new URL("../../src", import.meta.url))

/** A file's runtime imports; `import type` and `export type` load nothing. */
const importsOf = (file: string) =>
  [...NodeFs.readFileSync(file, "utf8").matchAll(/^(?:import|export)\s+(?!type\s)(?:[^"';]*?\sfrom\s+)?"([^"]+)"/gm)]
    .map(([, specifier = ""]) => specifier)

/** The file or the package that an import names for a browser. */
const targetOf = (file: string, specifier: string) => {
  if (specifier.startsWith(".")) return NodePath.resolve(NodePath.dirname(file), specifier)
  return specifier === "#libraries" ? NodePath.resolve(src, "..", manifest.imports["#libraries"].default) : specifier
}

/** Everything that importing the file loads, each with one file that imports it: packages by name, files from `src/` on. */
const closureOf = (start: string) => {
  const importedBy = new Map<string, string>()
  const visit = (file: string) => {
    for (const specifier of importsOf(file)) {
      const target = targetOf(file, specifier)
      const name = target.startsWith(src) ? NodePath.relative(src, target) : target
      if (importedBy.has(name)) continue
      importedBy.set(name, NodePath.relative(src, file))
      if (target.startsWith(src)) visit(target)
    }
  }
  visit(NodePath.join(src, start))
  return importedBy
}

/** Server code that must not reach browsers and other clients, which import the contract. */
const server =
  /^(node:|@|effect\/(sql|cluster|workflow|cli|observability))|(Repo|Actor|Http|Layer)\.ts$|^platform\/(database|cluster|crypto|config|net|observability)\//
const libraries = /^(?!effect(\/|$)|tldts$|libphonenumber-js\/max$)[a-z]/

describe("imports of the contract", () => {
  it("the walk follows imports from file to file", () => {
    const files = [...closureOf("api/Api.ts").keys()]
    assert.includeMembers(files, ["effect", "values/Ids.ts", "platform/http/ApiError.ts", "webhooks/WebhooksApi.ts"])
    assert.deepStrictEqual(
      importsOf(NodePath.join(src, "app/server/HttpServer.ts")).filter((name) => name.startsWith("node:")),
      [
        "node:http"
      ]
    )
  })

  for (const start of ["api/Api.ts", "api/Client.ts"]) {
    it(`${start} loads no server code: no SQL, no handlers, no actors, nothing of Node`, () => {
      const reached = [...closureOf(start)].filter(([name]) =>
        server.test(name) || (!name.endsWith(".ts") && libraries.test(name))
      )
      assert.deepStrictEqual(reached.map(([name, by]) => `${by} imports ${name}`), [])
    })
  }
})
