import * as NodePath from "node:path"
import type { RuleTester } from "oxlint/plugins-dev"

// oxlint names these types in its declarations but exports them only through its tester.
export type Rule = Parameters<RuleTester["run"]>[1]
type Visitor = ReturnType<NonNullable<Rule["create"]>>
export type Expression = Parameters<NonNullable<Visitor["ImportExpression"]>>[0]["source"]
export type Node = Parameters<NonNullable<Visitor["ImportExpression"]>>[0]["parent"]

const src = NodePath.resolve(import.meta.dirname, "../../src")

/** The path of a file seen from `src/`, wherever the linter was started. */
export const fromSrc = (file: string): string => NodePath.relative(src, file).replaceAll("\\", "/")

export const isOutside = (path: string): boolean => path.startsWith("../")

/** A place is one file, or a folder with its final slash. */
export const isIn = (path: string, places: ReadonlyArray<string>): boolean =>
  places.some((place) => place.endsWith("/") ? path.startsWith(place) : path === place)
