import * as NodeFs from "node:fs"
import * as NodePath from "node:path"

/** The folder of the project. */
export const root = NodePath.resolve(import.meta.dirname, "../..")

/** The version of the service, which the SDKs share. */
export const version: string = JSON.parse(NodeFs.readFileSync(NodePath.join(root, "package.json"), "utf8")).version

/** The page of an SDK as the README of its package: links to other pages keep their text only. */
export const readmeOf = (page: "python" | "typescript"): string =>
  NodeFs.readFileSync(NodePath.join(root, `docs/sdk/${page}.md`), "utf8")
    .replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, "$1")
