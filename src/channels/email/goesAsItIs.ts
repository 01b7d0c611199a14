const cr = 0x0d
const lf = 0x0a
const dot = 0x2e

/**
 * Whether a message may be sent with DATA byte for byte: every line ends with CRLF, the last one too, and none begins with
 * a dot, which would have to be doubled (RFC 5321, 4.5.2).
 */
export const goesAsItIs = (message: Buffer): boolean => {
  if (message[0] === dot || message.at(-1) !== lf) return false
  let ends = 0
  for (let at = message.indexOf(lf); at !== -1; at = message.indexOf(lf, at + 1)) {
    if (message[at - 1] !== cr || message[at + 1] === dot) return false
    ends++
  }
  for (let at = message.indexOf(cr); at !== -1; at = message.indexOf(cr, at + 1)) ends--
  return ends === 0
}
