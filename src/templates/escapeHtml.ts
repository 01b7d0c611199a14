const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\"": "&quot;",
  "'": "&#39;"
}

/** A value escaped for HTML text and quoted attributes. */
export const escapeHtml = (value: string): string =>
  /[&<>"']/.test(value) ? value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "") : value

/** The additional bytes of an escaped character, by its code. */
const growth = new Uint8Array(128)
for (const [character, entity] of Object.entries(entities)) growth[character.charCodeAt(0)] = entity.length - 1

/** The bytes of {@link escapeHtml}, computed without building it: megabytes of quotation marks grow sixfold. */
export const escapedBytes = (value: string): number => {
  let added = 0
  let isAscii = true
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < growth.length) added += growth[code] ?? 0
    else isAscii = false
  }
  return added + (isAscii ? value.length : Buffer.byteLength(value))
}
