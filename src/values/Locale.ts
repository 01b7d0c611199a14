import { Schema } from "effect"

/** The supported interface languages. */
export const Locale = Schema.Literals(["en", "fr", "es", "pt", "de", "ar", "sw", "rw"])
export type Locale = typeof Locale.Type

/** The supported timezones (spec 4.8). */
export const Timezone = Schema.Literals([
  "UTC",
  "America/New_York",
  "America/Los_Angeles",
  "America/Chicago",
  "Europe/London",
  "Europe/Berlin",
  "Europe/Paris",
  "Asia/Tokyo",
  "Asia/Shanghai",
  "Asia/Dubai",
  "Africa/Nairobi",
  "Africa/Kigali",
  "Africa/Lagos",
  "Australia/Sydney",
  "Pacific/Auckland"
])
export type Timezone = typeof Timezone.Type
