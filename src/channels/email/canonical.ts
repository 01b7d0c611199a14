const tab = 9
const lf = 10
const cr = 13
const space = 32

/** A field in the relaxed form (RFC 6376 3.4.2), without its line end. */
export const relaxedField = (field: string): string => {
  const colon = field.indexOf(":")
  const value = field.slice(colon + 1).replaceAll(/[ \t\r\n]+/g, " ")
  return `${field.slice(0, colon).trimEnd().toLowerCase()}:${value.replaceAll(/^ | $/g, "")}`
}

const writeLineEnds = (target: Buffer, start: number, count: number): number => {
  for (let line = 0; line < count; line++) {
    target[start + 2 * line] = cr
    target[start + 2 * line + 1] = lf
  }
  return start + 2 * count
}

/**
 * A body in the relaxed form (RFC 6376 3.4.4). Undefined when it has a bare CR or LF, which the next relay would mend
 * and thereby break the signature.
 */
export const relaxedBody = (body: Buffer): Buffer | undefined => {
  const target = Buffer.allocUnsafe(body.length + 2)
  let at = 0
  let lineEnds = 0
  let isSpaced = false
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] ?? 0
    if (byte === space || byte === tab) isSpaced = true
    else if (byte === cr) {
      i++
      if (body[i] !== lf) return undefined
      lineEnds++
      isSpaced = false
    } else if (byte === lf) return undefined
    else {
      if (lineEnds > 0) at = writeLineEnds(target, at, lineEnds)
      if (isSpaced) target[at++] = space
      target[at++] = byte
      lineEnds = 0
      isSpaced = false
    }
  }
  return at === 0 ? target.subarray(0, 0) : target.subarray(0, writeLineEnds(target, at, 1))
}
