import { inflateSync } from "node:zlib"

const bytesPerPixel = 4

/** The value of a byte from the bytes left, above, and left of that: PNG specification, 9.4. */
const paeth = (left: number, up: number, corner: number) => {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/** The pixels of a PNG of 8 bits with red, green, blue and alpha, as the service writes it. */
const pixelsOf = (png: Buffer) => {
  const parts: Array<Buffer> = []
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const data = inflateSync(Buffer.concat(parts))
  const row = width * bytesPerPixel
  const pixels = new Uint8Array(row * height)
  for (let at = 0; at < pixels.length; at++) {
    const [x, y] = [at % row, Math.floor(at / row)]
    const left = x < bytesPerPixel ? 0 : pixels[at - bytesPerPixel] ?? 0
    const up = pixels[at - row] ?? 0
    const corner = x < bytesPerPixel ? 0 : pixels[at - row - bytesPerPixel] ?? 0
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][data[y * (row + 1)] ?? 0] ?? 0
    pixels[at] = (data[y * (row + 1) + 1 + x] ?? 0) + guess
  }
  return { width, isDark: (x: number, y: number) => (pixels[y * row + x * bytesPerPixel] ?? 255) < 128 }
}

/** The modules of a QR code in a data URL, true for dark ones. Its corner is seven modules wide, which tells the scale. */
export const qrModules = (dataUrl: string): ReadonlyArray<ReadonlyArray<boolean>> => {
  const { isDark, width } = pixelsOf(Buffer.from(dataUrl.split(",")[1] ?? "", "base64"))
  let margin = 0
  while (margin < width && !isDark(margin, margin)) margin++
  let end = margin
  while (end < width && isDark(end, margin)) end++
  const scale = Math.max(1, Math.round((end - margin) / 7))
  const size = Math.round((width - 2 * margin) / scale)
  const middle = (index: number) => margin + index * scale + Math.floor(scale / 2)
  return Array.from(
    { length: size },
    (_, row) => Array.from({ length: size }, (_, column) => isDark(middle(column), middle(row)))
  )
}

/** Two lines of modules in one line of text: the light ones are drawn, with the quiet zone that scanners need. */
export const drawn = (modules: ReadonlyArray<ReadonlyArray<boolean>>): ReadonlyArray<string> => {
  const quiet = 2
  const isLight = (row: number, column: number) => modules[row]?.[column] !== true
  const places = Array.from({ length: modules.length + 2 * quiet }, (_, index) => index - quiet)
  return places.filter((_, index) => index % 2 === 0).map((row) =>
    places.map((column) => {
      const [upper, lower] = [isLight(row, column), isLight(row + 1, column)]
      return upper ? lower ? "█" : "▀" : lower ? "▄" : " "
    }).join("")
  )
}
