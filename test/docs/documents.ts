import * as NodeFs from "node:fs"
import * as NodePath from "node:path"

export const root = NodePath.resolve(import.meta.dirname, "../..")

/** A file of the project as text. */
export const read = (name: string): string => NodeFs.readFileSync(NodePath.join(root, name), "utf8")

const markdownIn = (folder: string): ReadonlyArray<string> =>
  NodeFs.readdirSync(NodePath.join(root, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => NodePath.join(folder, name))

/** Every page that people read. */
export const pages = ["", "docs", "docs/decisions"].flatMap(markdownIn)

/** The fenced blocks of a language, in their order. */
export const blocks = (markdown: string, language: string): ReadonlyArray<string> =>
  [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text ?? "")
