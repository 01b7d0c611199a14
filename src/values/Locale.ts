import { Schema } from "effect"

/** The supported interface languages. */
export const Locale = Schema.Literals(["en", "fr", "es", "pt", "de", "ar", "sw", "rw"])
export type Locale = typeof Locale.Type
