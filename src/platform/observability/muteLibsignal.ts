/**
 * libsignal prints whole sessions, with private keys, and expected failures with stack traces through `console`. It has no
 * option to turn that off. Every module that loads Baileys or libsignal imports this module first, for its side effect:
 * `console` then drops texts that begin like one of libsignal's. A test keeps the list complete.
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
