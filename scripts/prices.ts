/**
 * Writes sql/seed/sms_prices.csv, the price list of a new database: `node scripts/prices.ts`. Countries and dial
 * prefixes come from the numbering plans, names from the Unicode locale data. The prices are examples, which the
 * operator replaces with `prices import`. A test checks that the list has 243 countries.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import * as NodePath from "node:path"
import { header } from "../src/pricing/priceFile.ts"
import { dialPrefixes } from "../src/values/PhoneNumber.ts"

const path = NodePath.resolve(import.meta.dirname, "../sql/seed/sms_prices.csv")

/** Territories in the numbering plans that lists of countries omit: Ascension and Tristan da Cunha. */
const omitted = new Set(["AC", "TA"])

const names = new Intl.DisplayNames(["en"], { type: "region" })

/** An example price for each zone of dial prefixes. */
const figures: Readonly<Record<string, string>> = {
  "1": "0.0079",
  "2": "0.045",
  "3": "0.06",
  "4": "0.05",
  "5": "0.04",
  "6": "0.05",
  "7": "0.055",
  "8": "0.05",
  "9": "0.035"
}

const quoted = (text: string) => /[",]/.test(text) ? `"${text.replaceAll("\"", "\"\"")}"` : text

const rows = dialPrefixes()
  .filter(([country]) => !omitted.has(country))
  .map((
    [country, prefix]
  ) => [country, quoted(names.of(country) ?? country), prefix, figures[prefix[1] ?? ""] ?? "0.05"])
  .toSorted(([a = ""], [b = ""]) => a < b ? -1 : 1)

const comment = [
  "# EXAMPLE FIGURES: no carrier has these prices. Replace them with yours:",
  "#   npm run cli -- prices import FILE.csv --replace",
  "# Made by scripts/prices.ts."
]

/** The content of the file. */
const text = [...comment, header, ...rows.map((row) => row.join(",")), ""].join("\n")

const write = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, text))

NodeRuntime.runMain(write.pipe(Effect.provide(NodeServices.layer)))
