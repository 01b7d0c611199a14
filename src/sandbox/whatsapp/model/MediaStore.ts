import * as NodeCrypto from "node:crypto"
import type * as NodeHttp from "node:http"
import { node } from "../wire/stanza.ts"
import type { Shelf, SimulatorState } from "./SimulatorState.ts"

/** One encrypted file. */
interface StoredFile {
  readonly bytes: Uint8Array
  readonly sequence: number
}

/** WhatsApp accepts larger documents; this is enough to test with. */
const maxFileBytes = 64 * 1024 * 1024

/** The store then deletes the oldest file. WhatsApp deletes files after some weeks. */
const maxFiles = 200

/**
 * The media host. Clients upload encrypted files and download them over plain HTTP. Messages contain a URL and no path,
 * so that Baileys downloads from the URL. For an upload Baileys puts `https://` before the host; its `fetchAgent` must
 * be a `plainAgent`.
 */
export class MediaStore {
  readonly #files: Shelf<StoredFile>
  #sequence: number
  #host = ""

  constructor(state: SimulatorState) {
    this.#files = state.shelf("media")
    this.#sequence = Math.max(0, ...this.#files.values().map(({ sequence }) => sequence))
  }

  /** Sets the host of all URLs: `127.0.0.1:port`. */
  setHost(host: string): void {
    this.#host = host
  }

  /** Stores a file and returns its URL. */
  add(bytes: Uint8Array): string {
    const name = NodeCrypto.randomBytes(12).toString("hex")
    this.#files.set(name, { bytes, sequence: ++this.#sequence })
    const [oldest] = this.#files.entries().toSorted(([, a], [, b]) => a.sequence - b.sequence)
    if (this.#files.size > maxFiles && oldest !== undefined) this.#files.delete(oldest[0])
    return `http://${this.#host}/file/${name}`
  }

  /** The file with this URL or path. */
  get(url: string): Uint8Array | undefined {
    return this.#files.get(url.slice(url.lastIndexOf("/") + 1))?.bytes
  }

  /** The answer to a client that asks for the upload host. */
  get hosts() {
    return node("media_conn", { auth: "sandbox", ttl: "3600", auth_ttl: "3600", max_buckets: "12" }, [
      node("host", { hostname: this.#host, maxContentLengthBytes: String(maxFileBytes) })
    ])
  }

  /** Serves an upload or a download. */
  serve(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    if (request.method === "POST") this.#upload(request, response)
    else this.#download(request, response)
  }

  #upload(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxFileBytes) chunks.push(chunk)
    })
    request.on("end", () => {
      const answer = size > maxFileBytes ? {} : { url: this.add(Buffer.concat(chunks)) }
      response.writeHead(size > maxFileBytes ? 413 : 200, { "content-type": "application/json" })
      response.end(JSON.stringify(answer))
    })
  }

  #download(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    const bytes = this.get((request.url ?? "").split("?", 1)[0] ?? "")
    if (bytes === undefined) response.writeHead(404).end()
    else response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes)
  }
}
