const essence = /^[a-z0-9][\w!#$&^.+-]{0,63}\/[a-z0-9][\w!#$&^.+-]{0,63}$/i

/** After the type; what is quoted is printable ASCII, so that none of it can end a header or the quotes. */
const parameters = /^(?: *; *[\w!#$&^.+-]+=(?:[\w!#$&^.+-]+|"[ !#-[\]-~]*"))*$/

/** A media type without its parameters, in lower case: WhatsApp's own name of voice notes is `audio/ogg; codecs=opus`. */
export const bareType = (mediaType: string): string => mediaType.split(";")[0]?.trim().toLowerCase() ?? ""

/** Drawings by strokes instead of pixels. */
export const drawing = "image/svg+xml"

/** Why a drawing is no image: phones show pictures of pixels alone. */
export const noDrawing =
  `must be of pixels, such as image/png: WhatsApp does not show ${drawing}; send it as a document`

/** Why a file of this kind (image, video, audio, document) is not of this media type; undefined where it may be. */
export const mediaTypeProblem = (kind: string, mediaType: string): string | undefined => {
  const end = mediaType.indexOf(";")
  const type = (end === -1 ? mediaType : mediaType.slice(0, end)).trimEnd()
  if (!essence.test(type) || (kind !== "document" && !bareType(type).startsWith(`${kind}/`))) {
    return kind === "document"
      ? "must be a media type, such as application/pdf"
      : `must be a media type that begins with ${kind}/`
  }
  if (kind === "image" && bareType(type) === drawing) return noDrawing
  return parameters.test(mediaType.slice(type.length))
    ? undefined
    : "must have its parameters as name=value after a semicolon, as in audio/ogg; codecs=opus"
}
