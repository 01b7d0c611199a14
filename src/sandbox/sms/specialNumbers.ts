/** What becomes of a text to a number of the sandbox. */
export type Fate = "delivered" | "refused" | "undeliverable" | "expired" | "silent" | "put_off"

/** Numbers that nobody has, for trying what goes wrong. Every other number gets its text. */
export const magicNumbers: ReadonlyArray<{ readonly number: string; readonly fate: Fate; readonly meaning: string }> = [
  { number: "+15005550001", fate: "refused", meaning: "is refused at once: message.failed without message.sent" },
  { number: "+15005550002", fate: "undeliverable", meaning: "is sent, and then fails as undeliverable" },
  { number: "+15005550003", fate: "silent", meaning: "is sent, and nothing is ever heard of it" },
  { number: "+15005550004", fate: "put_off", meaning: "is put off once, and taken five seconds later" },
  { number: "+15005550005", fate: "expired", meaning: "is sent, and then fails as expired" }
]

/** What becomes of a text to this number. */
export const fateOf = (number: string): Fate =>
  magicNumbers.find((magic) => magic.number === number)?.fate ?? "delivered"
