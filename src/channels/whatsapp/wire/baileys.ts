import "../../../platform/observability/muteLibsignal.ts"
import type * as Library from "@whiskeysockets/baileys"
import { createRequire } from "node:module"

const require = createRequire(import.meta.url)

/**
 * The library, loaded at its first use: it takes 40 MB and a quarter of a second. Files that only a connection needs import
 * it themselves.
 */
export const baileys = (): typeof Library => require("@whiskeysockets/baileys")
