/** The libraries of libraries.ts, as Node loads them: at their first use. */
import type * as Phones from "libphonenumber-js/max"
import { createRequire } from "node:module"
import type * as Suffixes from "tldts"

const require = createRequire(import.meta.url)

/** The numbering plans, which take 3 MB. */
export const phones = (): typeof Phones => require("libphonenumber-js/max")

/** The list of public suffixes, which takes 2 MB. */
export const suffixes = (): typeof Suffixes => require("tldts")
