import * as NodeCrypto from "node:crypto"
import type * as NodeHttp from "node:http"
import { node } from "../wire/stanza.ts"
import type { Shelf, SimulatorState } from "./SimulatorState.ts"

/** One encrypted file. */
interface StoredFile {
  readonly bytes: Uint8Array
  readonly sequence: number
}

/** As WhatsApp has it for documents, in small. */
const mostBytes = 64 * 1024 * 1024

/** Files kept; the oldest go first, as WhatsApp's do after some weeks. */
const kept = 200

/**
 * The media host: clients upload encrypted files and fetch them again, over plain HTTP. Baileys fetches from the URL of
 * a message when it has no path, so messages tell the URL alone. For an upload it writes `https://` in front of the
 * host and asks its `fetchAgent`, which has to be a `plainAgent`.
 */
export class MediaStore {
  readonly #files: Shelf<StoredFile>
  #sequence: number
  #host = ""

  constructor(state: SimulatorState) {
    this.#files = state.shelf("media")
    this.#sequence = Math.max(0, ...this.#files.values().map(({ sequence }) => sequence))
  }

  /** Tells where the server listens: `127.0.0.1:port`. */
  listensAt(host: string): void {
    this.#host = host
  }

  /** Takes a file; the answer is its URL. */
  add(bytes: Uint8Array): string {
    const name = NodeCrypto.randomBytes(12).toString("hex")
    this.#files.set(name, { bytes, sequence: ++this.#sequence })
    const [oldest] = this.#files.entries().toSorted(([, a], [, b]) => a.sequence - b.sequence)
    if (this.#files.size > kept && oldest !== undefined) this.#files.delete(oldest[0])
    return `http://${this.#host}/file/${name}`
  }

  /** The file at a URL, or at the path of one. */
  get(url: string): Uint8Array | undefined {
    return this.#files.get(url.slice(url.lastIndexOf("/") + 1))?.bytes
  }

  /** The answer to a client that asks where to upload. */
  get hosts() {
    return node("media_conn", { auth: "sandbox", ttl: "3600", auth_ttl: "3600", max_buckets: "12" }, [
      node("host", { hostname: this.#host, maxContentLengthBytes: String(mostBytes) })
    ])
  }

  /** Serves an upload or a download. */
  serve(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    if (request.method === "POST") this.#take(request, response)
    else this.#give(request, response)
  }

  #take(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    const chunks: Array<Buffer> = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= mostBytes) chunks.push(chunk)
    })
    request.on("end", () => {
      const answer = size > mostBytes ? {} : { url: this.add(Buffer.concat(chunks)) }
      response.writeHead(size > mostBytes ? 413 : 200, { "content-type": "application/json" })
      response.end(JSON.stringify(answer))
    })
  }

  #give(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    const bytes = this.get((request.url ?? "").split("?", 1)[0] ?? "")
    if (bytes === undefined) response.writeHead(404).end()
    else response.writeHead(200, { "content-type": "application/octet-stream" }).end(bytes)
  }
}
