import * as NodeFs from "node:fs"
import * as NodePath from "node:path"

export const root = NodePath.resolve(import.meta.dirname, "../..")

/** A file of the project as text. */
export const read = (name: string): string => NodeFs.readFileSync(NodePath.join(root, name), "utf8")

/** Every Markdown page of the root and docs. */
export const pages: ReadonlyArray<string> = [
  ...NodeFs.readdirSync(root),
  ...NodeFs.readdirSync(NodePath.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((name) => NodePath.join("docs", name))
].filter((name) => name.endsWith(".md"))

/** The fenced blocks of a language, in order. */
export const blocks = (markdown: string, language: string): ReadonlyArray<string> =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text ?? "")
