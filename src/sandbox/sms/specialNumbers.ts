/** The outcome of a text to a number of the sandbox, as the part's row stores it. `lost`: by a planned fault. */
export type Outcome = "delivered" | "refused" | "undeliverable" | "expired" | "silent" | "put_off" | "lost"

/** Unassigned numbers that fail on purpose. Every other number receives its text. */
export const specialNumbers: ReadonlyArray<
  { readonly number: string; readonly outcome: Outcome; readonly meaning: string }
> = [
  { number: "+15005550001", outcome: "refused", meaning: "is refused at once: message.failed without message.sent" },
  { number: "+15005550002", outcome: "undeliverable", meaning: "is sent, and then fails as undeliverable" },
  { number: "+15005550003", outcome: "silent", meaning: "is sent, and never gets a receipt" },
  {
    number: "+15005550004",
    outcome: "put_off",
    meaning: "refuses the first attempt and accepts the second, after five seconds"
  },
  { number: "+15005550005", outcome: "expired", meaning: "is sent, and then fails as expired" }
]

/** The outcome of a text to this number. */
export const outcomeOf = (number: string): Outcome =>
  specialNumbers.find((special) => special.number === number)?.outcome ?? "delivered"
