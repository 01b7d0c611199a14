const changes = /(?<!\r)\n|\r(?!\n)|\n\./

/**
 * Whether a message may be sent with DATA byte for byte: every line ends with CRLF, the last one too, and none begins with
 * a dot, which would have to be doubled (RFC 5321, 4.5.2).
 */
export const goesAsItIs = (message: Buffer): boolean => {
  const text = message.toString("latin1")
  return text.endsWith("\n") && !text.startsWith(".") && !changes.test(text)
}
