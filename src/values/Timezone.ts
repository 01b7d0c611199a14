import { Schema } from "effect"

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
