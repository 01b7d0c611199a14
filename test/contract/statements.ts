/**
 * Checks that a statement which reads or writes rows of accounts names the account: each part of it that names a table
 * with an `account_id` has to compare it, or to insert it. A part is a select, insert, update or delete, also in parentheses.
 */
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"
import { allowed } from "./statements.allowed.ts"

const schema = NodeFs.readFileSync(new URL("../../sql/schema.sql", import.meta.url), "utf8")

/** Tables whose rows belong to accounts. */
export const accountTables: ReadonlySet<string> = new Set(
  [...schema.matchAll(/^create (?:unlogged )?table (\w+) \(\n([^]*?)\n\)/gm)]
    .filter(([, , columns = ""]) => /^ {2}account_id /m.test(columns))
    .map(([, name = ""]) => name)
)

const onOneLine = (text: string) =>
  text
    .replaceAll(/-- .*$/gm, " ")
    .replaceAll(/"(\w+)"/g, "$1")
    .replaceAll(/\s+/g, " ")
    .replaceAll("( ", "(")
    .replaceAll(" )", ")")

/** A statement on one line, without comments, with `$` for each value and each list of values. */
export const shapeOf = (statement: string): string =>
  onOneLine(
    // In one pass, because a comment may have an apostrophe, and a text two hyphens.
    statement.replaceAll(
      /(--.*$|\/\*[^]*?\*\/)|'(?:[^']|'')*'|\$\d+|\b(?:\d+|true|false)\b|(?<!is |not )\bnull\b/gm,
      (_, comment) => comment === undefined ? "$" : " "
    )
  )
    .replaceAll(/\$(?:, \$)+/g, "$$")
    .replaceAll(/\(\$\)(?:, ?\(\$\))+/g, "($)")
    .trim()

const opensPart = /^\(\s*(?:select|insert|update|delete|with)\b/i

/** The text of each select, insert, update or delete, without those within it. */
const partsOf = (shape: string): ReadonlyArray<string> => {
  const parts: Array<string> = [""]
  /** For each open parenthesis the part that it is in. */
  const open: Array<number> = []
  let current = 0
  for (let at = 0; at < shape.length; at++) {
    const sign = shape[at] ?? ""
    if (sign === "(") {
      open.push(current)
      if (opensPart.test(shape.slice(at, at + 20))) {
        parts[current] += "()"
        current = parts.push("") - 1
        continue
      }
    }
    if (sign === ")") {
      const outer = open.pop() ?? 0
      if (outer !== current) {
        current = outer
        continue
      }
    }
    parts[current] += sign
  }
  return parts.flatMap((part) => part.split(/\b(?:union(?: all)?|except|intersect|on conflict|(?<=\) )select)\b/i))
}

/** A name that the statement gives to a part of itself. */
const isOwnName = (shape: string, name: string) =>
  new RegExp(`(?:\\bwith(?: recursive)?|,) ${name} as(?: not)?(?: materialized)? ?\\(`, "i").test(shape)

const tablesIn = (part: string) =>
  [...part.matchAll(/(?:\b(?:from|join|update|into|using)|,)\s+(?:only\s+)?(\w+)\b(?!\s*\.)/gi)]
    .map(([, name = ""]) => name)
    .filter((name) => accountTables.has(name))

const names = [
  /\baccount_id\s*(?:=|in\b|is not distinct from|is null)/i,
  /(?:=|distinct from)\s*(?:any\s*\(\s*)?(?:\w+\.)?account_id\b/i,
  /\busing\s*\([^()]*\baccount_id\b/i,
  /\([^()]*\baccount_id\b[^()]*\)\s*(?:=|in\b)/i,
  /\binsert into \w+(?: as \w+)?\s*\([^()]*\baccount_id\b/i
]

/** Comparisons of the account of one row with that of another. */
const joined = [
  /\b(?:(\w+)\.)?account_id\s*(?:=|is not distinct from)\s*(?:(\w+)\.)?account_id\b/gi,
  /\((?:[^()]*[(, ])?(?:(\w+)\.)?account_id\b[^()]*\)\s*=\s*\((?:[^()]*[(, ])?(?:(\w+)\.)?account_id\b[^()]*\)/gi
]

/**
 * A part without the comparisons that tie two of its rows of accounts to each other: they name no account. A row of an outer
 * part is checked there, and one of values names the account.
 */
const withoutJoins = (part: string, shape: string) => {
  const isOfAccounts = (name: string) => accountTables.has(name) && !isOwnName(shape, name)
  const names = [
    ...part.matchAll(
      /(?:\b(?:from|join|update|into|using)|,)\s+(?:only\s+)?(\w+)\b(?!\s*[.(])(?:\s+as)?(?:\s+(\w+))?/gi
    )
  ]
    .flatMap(([, name = "", alias = ""]) => isOfAccounts(name) ? [name, alias] : [])
  const isOwn = (name: string | undefined) => name === undefined || names.includes(name)
  const isOfAccountsOnly = [...part.matchAll(/\b(?:from|join|update)\s+(?:only\s+|lateral\s+)*(\w*)/gi)]
    .every(([, name = ""]) => isOfAccounts(name))
  const rest = isOfAccountsOnly ? part.replaceAll(/\busing\s*\([^()]*\)/gi, " ") : part
  return joined.reduce(
    (left, pattern) => left.replaceAll(pattern, (text, one, other) => isOwn(one) && isOwn(other) ? " " : text),
    rest
  )
}

/** The tables of accounts that a statement touches without naming the account. */
export const unnamedIn = (statement: string): ReadonlyArray<string> => {
  const shape = shapeOf(statement)
  const unnamed = partsOf(shape).filter((part) => {
    const rest = withoutJoins(part, shape)
    return !names.some((pattern) => pattern.test(rest))
  })
  return [...new Set(unnamed.flatMap(tablesIn))].filter((name) => !isOwnName(shape, name))
}

const src = NodeUrl.fileURLToPath(new URL("../../src", import.meta.url))

const sources = NodeFs.readdirSync(src, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => ({ file, text: onOneLine(NodeFs.readFileSync(NodePath.join(src, file), "utf8")) }))

/** The files of `src/` with the longest part of a statement that has no value, or at least with its beginning. */
const filesWith = (shape: string): ReadonlyArray<string> => {
  const [longest = ""] = shape.split("$").map((part) => part.trim()).toSorted((a, b) => b.length - a.length)
  const found = [80, 30].map((length) => sources.filter(({ text }) => text.includes(longest.slice(0, length))))
  return (found.find((files) => files.length > 0) ?? []).map(({ file }) => file)
}

/** Parts in the list of allowed statements that no source has. */
export const staleParts = allowed.flatMap(({ statements }) => statements).filter((part) => filesWith(part).length === 0)

/** The tables of accounts that a statement touches without naming the account, and without being allowed to. */
export const faultsIn = (statement: string): ReadonlyArray<string> => {
  const shape = shapeOf(statement)
  const reasons = allowed.filter(({ statements }) => statements.some((part) => shape.includes(part)))
  return unnamedIn(statement).filter((name) => !reasons.some(({ tables }) => tables?.includes(name) ?? true))
}

/** One line for each executed statement with a fault. */
export const faultsOf = (executed: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Map(executed.map((statement) => [shapeOf(statement), faultsIn(statement)]))]
    .filter(([, tables]) => tables.length > 0)
    .map(([shape, tables]) =>
      `names no account for ${tables.join(", ")}, in ${filesWith(shape).join(", ") || "?"}: ${shape}`
    )
