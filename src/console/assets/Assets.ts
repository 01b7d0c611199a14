import { Option, Schema } from "effect"
import { createHash } from "node:crypto"
import * as NodeFs from "node:fs"
import { createRequire } from "node:module"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { iconNames } from "./icons.ts"

/** A file of the console, ready to send. */
export interface Asset {
  /** Contains a hash of the content, so that browsers may keep it for good. */
  readonly path: string
  readonly type: string
  readonly plain: Uint8Array
  readonly brotli: Uint8Array
  readonly gzip: Uint8Array
}

const require = createRequire(import.meta.url)

const own = (name: string) => NodeFs.readFileSync(new URL(name, import.meta.url), "utf8")
const packaged = (name: string) => NodeFs.readFileSync(require.resolve(name), "utf8")

/** Compressed as far as it goes, once. */
const assetOf = (name: string, type: string, content: string): Asset => {
  const plain = Buffer.from(content)
  const hash = createHash("sha256").update(plain).digest("base64url").slice(0, 12)
  const [stem, ending] = name.split(".")
  return {
    path: `/console/assets/${stem}.${hash}.${ending}`,
    type,
    plain,
    brotli: brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    gzip: gzipSync(plain, { level: 9 })
  }
}

const once = <A>(make: () => A): () => A => {
  let made: Option.Option<A> = Option.none()
  return () => {
    made = Option.orElse(made, () => Option.some(make()))
    return Option.getOrThrow(made)
  }
}

const Icons = Schema.fromJsonString(Schema.Struct({
  icons: Schema.Record(Schema.String, Schema.Struct({ body: Schema.String }))
}))

/** One SVG with a symbol for each icon. */
const sprite = () => {
  const { icons } = Schema.decodeSync(Icons)(packaged("@iconify-json/lucide/icons.json"))
  const symbols = iconNames.map((name) => {
    const body = icons[name]?.body
    if (body === undefined) throw new Error(`Lucide has no icon ${name}`)
    return `<symbol id="${name}" viewBox="0 0 24 24">${body}</symbol>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join("")}</svg>`
}

/** The files beside the pages. Each is made when it is used first. */
export const assets = {
  style: once(() => assetOf("console.css", "text/css; charset=utf-8", own("console.css"))),
  script: once(() =>
    assetOf(
      "console.js",
      "text/javascript; charset=utf-8",
      // htmx without the comment that names its source map, which we do not serve.
      `${packaged("htmx.org/dist/htmx.min.js").replace(/\n?\/\/# sourceMappingURL=.*/, "")}\n${own("console.js")}`
    )
  ),
  icons: once(() => assetOf("icons.svg", "image/svg+xml", sprite()))
} as const

/** The asset of a path, if it is one of the current ones. */
export const assetAt = (path: string): Asset | undefined =>
  Object.values(assets).map((make) => make()).find((asset) => asset.path === path)
