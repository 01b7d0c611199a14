import * as NodeModule from "node:module"
import * as NodeZlib from "node:zlib"

const require = NodeModule.createRequire(import.meta.url)
// Tables of the standard, in parts of the library that have no types.
const tables = require("qrcode/lib/core/error-correction-code") as {
  readonly getBlocksCount: (version: number, level: { readonly bit: number }) => number
  readonly getTotalCodewordsCount: (version: number, level: { readonly bit: number }) => number
}
const { M: level } = require("qrcode/lib/core/error-correction-level") as { readonly M: { readonly bit: number } }
const alignment = require("qrcode/lib/core/alignment-pattern") as {
  readonly getPositions: (version: number) => ReadonlyArray<readonly [number, number]>
}
const utils = require("qrcode/lib/core/utils") as { readonly getSymbolTotalCodewords: (version: number) => number }

const margin = 2
const scale = 5

const paeth = (a: number, b: number, c: number) => {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c
}

/** Whether each pixel of a PNG with four channels of 8 bits is dark. */
const pixelsOf = (png: Buffer) => {
  const parts: Array<Buffer> = []
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(png.subarray(at + 8, at + 8 + length))
    at += 12 + length
  }
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const data = NodeZlib.inflateSync(Buffer.concat(parts))
  const row = width * 4
  const pixels = new Uint8Array(row * height)
  for (let y = 0; y < height; y++) {
    const filter = data[y * (row + 1)]
    for (let x = 0; x < row; x++) {
      const left = x < 4 ? 0 : pixels[y * row + x - 4] ?? 0
      const up = y === 0 ? 0 : pixels[(y - 1) * row + x] ?? 0
      const corner = x < 4 || y === 0 ? 0 : pixels[(y - 1) * row + x - 4] ?? 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      pixels[y * row + x] = (data[y * (row + 1) + 1 + x] ?? 0) + guess
    }
  }
  return { width, isDark: (x: number, y: number) => (pixels[y * row + x * 4] ?? 0) < 128 }
}

const masks: ReadonlyArray<(row: number, column: number) => boolean> = [
  (i, j) => (i + j) % 2 === 0,
  (i) => i % 2 === 0,
  (_, j) => j % 3 === 0,
  (i, j) => (i + j) % 3 === 0,
  (i, j) => (Math.floor(i / 2) + Math.floor(j / 3)) % 2 === 0,
  (i, j) => ((i * j) % 2) + ((i * j) % 3) === 0,
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2 === 0,
  (i, j) => (((i * j) % 3) + ((i + j) % 2)) % 2 === 0
]

const isFunction = (size: number, version: number) => {
  const centres = alignment.getPositions(version)
  return (row: number, column: number) =>
    (row < 9 && column < 9) || (row < 9 && column >= size - 8) || (row >= size - 8 && column < 9) ||
    row === 6 || column === 6 ||
    (version >= 7 && ((row < 6 && column >= size - 11) || (column < 6 && row >= size - 11))) ||
    centres.some(([y, x]) => Math.abs(row - y) <= 2 && Math.abs(column - x) <= 2)
}

/** The codewords in the standard's order: two columns at a time, from the right, alternately up and down. */
const codewordsOf = (size: number, version: number, bit: (row: number, column: number) => boolean) => {
  const skip = isFunction(size, version)
  const bits: Array<boolean> = []
  let up = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right--
    for (let step = 0; step < size; step++) {
      const row = up ? size - 1 - step : step
      for (const column of [right, right - 1]) if (!skip(row, column)) bits.push(bit(row, column))
    }
    up = !up
  }
  return Array.from(
    { length: Math.floor(bits.length / 8) },
    (_, index) => bits.slice(index * 8, index * 8 + 8).reduce((byte, one) => byte * 2 + (one ? 1 : 0), 0)
  )
}

/** The data of all blocks in order, without error correction. */
const dataOf = (codewords: ReadonlyArray<number>, version: number) => {
  const blocks = tables.getBlocksCount(version, level)
  const total = utils.getSymbolTotalCodewords(version)
  const data = total - tables.getTotalCodewordsCount(version, level)
  const short = Math.floor(data / blocks)
  const longOnes = data % blocks
  const lengths = Array.from({ length: blocks }, (_, block) => short + (block >= blocks - longOnes ? 1 : 0))
  const parts = lengths.map((): Array<number> => [])
  let at = 0
  for (let index = 0; index <= short; index++) {
    parts.forEach((part, block) => {
      if (index < (lengths[block] ?? 0)) part.push(codewords[at++] ?? 0)
    })
  }
  return parts.flat()
}

const alphanumerics = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

const textOf = (data: ReadonlyArray<number>, version: number) => {
  const bits = data.map((byte) => byte.toString(2).padStart(8, "0")).join("")
  let at = 0
  const take = (count: number) => {
    at += count
    return Number.parseInt(bits.slice(at - count, at) || "0", 2)
  }
  const wide = version >= 27 ? 2 : version >= 10 ? 1 : 0
  let text = ""
  while (at + 4 <= bits.length) {
    const mode = take(4)
    if (mode === 4) {
      const bytes = Array.from({ length: take(wide === 0 ? 8 : 16) }, () => take(8))
      text += Buffer.from(bytes).toString("utf8")
    } else if (mode === 2) {
      let left = take(9 + wide * 2)
      for (; left > 1; left -= 2) {
        const value = take(11)
        text += `${alphanumerics[Math.floor(value / 45)]}${alphanumerics[value % 45]}`
      }
      if (left === 1) text += alphanumerics[take(6)]
    } else if (mode === 1) {
      let left = take(10 + wide * 2)
      for (; left > 0; left -= 3) {
        const digits = Math.min(left, 3)
        text += String(take([0, 4, 7, 10][digits] ?? 0)).padStart(digits, "0")
      }
    } else return text
  }
  return text
}

/** Reads the API's QR code as a phone does: a data URL of an undamaged image with error correction M. */
export const readQr = (dataUrl: string): string => {
  const { isDark, width } = pixelsOf(Buffer.from(dataUrl.split(",")[1] ?? "", "base64"))
  const size = width / scale - 2 * margin
  const version = (size - 17) / 4
  const module = (row: number, column: number) => isDark((column + margin) * scale + 2, (row + margin) * scale + 2)
  const format = [0, 1, 2, 3, 4].reduce((bits, column) => bits * 2 + (module(8, column) ? 1 : 0), 0) ^ 0b10101
  const mask = masks[format & 7] ?? (() => false)
  const codewords = codewordsOf(size, version, (row, column) => module(row, column) !== mask(row, column))
  return textOf(dataOf(codewords, version), version)
}
