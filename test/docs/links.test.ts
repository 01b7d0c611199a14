import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { pages, read, root } from "./documents.ts"

const Package = Schema.fromJsonString(Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) }))
const { scripts } = Schema.decodeSync(Package)(read("package.json"))

/** npm's built-in commands that the pages name. */
const ofNpm = new Set(["ci", "install", "test", "start"])

const commandsOf = (text: string) =>
  [...text.matchAll(/\bnpm (?:run (?:-s )?)?([a-z:]+)/g)].map(([whole, name = ""]) => ({
    name,
    isScript: whole.startsWith("npm run") || name === "test" || name === "start"
  }))

const withoutCode = (markdown: string) => markdown.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "")

const targetsOf = (markdown: string) =>
  [...withoutCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = ""]) =>
    /^(?:https?:|mailto:)/.test(target) ? [] : [target]
  )

/** A heading's anchor as common viewers generate it. */
const anchorsOf = (markdown: string) =>
  new Set(
    [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title = ""]) =>
      title.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
    )
  )

describe("links and names in the documents", () => {
  for (const page of pages) {
    it(`${page} links only to existing files and headings`, () => {
      for (const target of targetsOf(read(page))) {
        const [file = "", anchor] = target.split("#")
        const path = file === "" ? page : NodePath.join(NodePath.dirname(page), file)
        assert.isTrue(NodeFs.existsSync(NodePath.join(root, path)), `${page} links to ${target}`)
        if (anchor !== undefined) assert.isTrue(anchorsOf(read(path)).has(anchor), `${page} links to ${target}`)
      }
    })

    it(`${page} names only existing npm commands`, () => {
      for (const { isScript, name } of commandsOf(read(page))) {
        if (isScript) assert.property(scripts, name, `npm run ${name}`)
        else assert.isTrue(ofNpm.has(name) || !read(page).includes(`\`npm ${name}`), `npm ${name}`)
      }
    })

    it(`${page} names only existing files of src, test, scripts, sql and docs`, () => {
      // With a slash before it, it is the path of an address.
      for (const [path] of read(page).matchAll(/(?<![\w/])(?:src|test|scripts|sql|docs)\/[\w./-]*\w/g)) {
        assert.isTrue(NodeFs.existsSync(NodePath.join(root, path)), `${page} names ${path}`)
      }
    })
  }
})
