/**
 * libsignal prints whole sessions, private keys included, and expected failures with stack traces, through `console`.
 * It has no switch for that. Whatever loads Baileys or libsignal imports this module first, for its effect: from then
 * on `console` drops what begins with a text of libsignal's; all else passes. A test keeps the list complete.
 */
const texts = [
  "Closing session:",
  "Closing open session in favor of incoming prekey bundle",
  "Closing stale open session for new outgoing prekey bundle",
  "Decrypted message with closed session.",
  "Failed to decrypt message with any known session...",
  "Migrating session to:",
  "Opening session:",
  "Removing old closed session:",
  "Session already closed",
  "Session already open",
  "Session error:",
  "Unhandled bucket type (for naming):",
  "V1 session storage migration error",
  "WARNING: Expected pubkey of length 33"
]

const isLibsignal = (first: unknown) => typeof first === "string" && texts.some((text) => first.startsWith(text))

const output = globalThis.console
for (const method of ["error", "info", "warn"] as const) {
  const print = output[method].bind(output)
  output[method] = (...words: Array<unknown>) => {
    if (!isLibsignal(words[0])) print(...words)
  }
}
