/** Media types as people write them in requests: `audio/ogg; codecs=opus` (RFC 9110, 8.3.1). */

const essence = /^[a-z0-9][\w!#$&^.+-]{0,63}\/[a-z0-9][\w!#$&^.+-]{0,63}$/i

/** Optional parameters after the type. Quoted values are printable ASCII, so that none can end a header or the quotes. */
const parameters = /^(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[ !#-[\]-~]*"))*$/

interface Parts {
  /** Whether the text before the first semicolon is a type and a subtype. */
  readonly hasType: boolean
  readonly hasValidParameters: boolean
}

/** The validity of both parts of a media type. */
export const partsOf = (mediaType: string): Parts => {
  const end = mediaType.indexOf(";")
  const type = (end === -1 ? mediaType : mediaType.slice(0, end)).trimEnd()
  return { hasType: essence.test(type), hasValidParameters: parameters.test(mediaType.slice(type.length)) }
}

/** Whether a text is a media type, with or without parameters. */
export const isMediaType = (text: string): boolean => {
  const { hasType, hasValidParameters } = partsOf(text)
  return hasType && hasValidParameters
}
