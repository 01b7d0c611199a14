const changes = /(?<!\r)\n|\r(?!\n)|\n\./

/** Whether a message has nothing to mend: every line ends with CRLF, the last one too, and none begins with a dot. */
const goesAsItIs = (text: string): boolean => text.endsWith("\n") && !text.startsWith(".") && !changes.test(text)

const finalDot = Buffer.from(".\r\n")

/**
 * A message as DATA carries it (RFC 5321 4.5.2), with the final dot: a dot at the beginning of a line is doubled. A lone
 * CR or LF becomes CRLF, since some relays would take the line end of `<LF>.<LF>` for that of the message.
 */
export const dotStuffed = (message: Buffer): Buffer => {
  const text = message.toString("latin1")
  if (goesAsItIs(text)) return Buffer.concat([message, finalDot])
  const lines = text.replaceAll(/\r\n|\r|\n/g, "\r\n").replaceAll(/(?<=^|\n)\./g, "..")
  return Buffer.from(`${lines}${lines.endsWith("\n") ? "" : "\r\n"}.\r\n`, "latin1")
}
