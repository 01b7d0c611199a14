import type * as NodeHttp from "node:http"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import type { Controls } from "./Controls.ts"

/** The name of a verb. */
export type Verb = keyof Controls

/** A missing verb is a compile error. */
const verbs: { readonly [V in Verb]: true } = {
  changeGroup: true,
  clearChats: true,
  clearFaults: true,
  counters: true,
  createGroup: true,
  createPhone: true,
  dropConnection: true,
  edit: true,
  endConnection: true,
  enterPairingCode: true,
  groups: true,
  joinGroup: true,
  keepPreKeys: true,
  logOut: true,
  media: true,
  messages: true,
  messagesOf: true,
  misbehave: true,
  phones: true,
  poll: true,
  react: true,
  renewInvite: true,
  scan: true,
  sendMedia: true,
  sendReceipt: true,
  sendText: true,
  sessions: true,
  setFault: true,
  setReceipts: true
}

const isVerb = (name: string): name is Verb => Object.hasOwn(verbs, name)

/** The path of the verbs below the simulator's origin. */
export const controlPath = "/control/"

/** Enough for the largest file in base64. */
const maxBodyBytes = 96 * 1024 * 1024

const answer = (response: NodeHttp.ServerResponse, status: number, body: unknown) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body ?? null))
}

const read = async (request: NodeHttp.IncomingMessage): Promise<ReadonlyArray<unknown>> => {
  const chunks: Array<Buffer> = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > maxBodyBytes) throw new SimulatorRefusal("The request body is too large")
    chunks.push(chunk)
  }
  const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString() || "[]")
  if (!Array.isArray(parsed)) {
    throw new SimulatorRefusal("The body is not a JSON array. Send the arguments of the verb.")
  }
  return parsed
}

/**
 * The verbs over HTTP, for other nodes and for tests: `POST /control/<verb>` with a JSON array of arguments. The answer
 * is
 * JSON: 200 with the result, or 409 with the reason of a refusal. Pages in a browser have no access: a form cannot send
 * the content type, and a foreign page has another host name.
 */
export class ControlServer {
  readonly #controls: Controls

  constructor(controls: Controls) {
    this.#controls = controls
  }

  async serve(request: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): Promise<void> {
    const name = (request.url ?? "").slice(controlPath.length)
    const isProgram = request.headers["content-type"] === "application/json"
      && /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "")
    if (!isVerb(name) || request.method !== "POST" || !isProgram) {
      return answer(response, 404, { message: "There is no such verb" })
    }
    try {
      // Callers compile against the same types, and a verb refuses arguments that it cannot use.
      const method = this.#controls[name] as (...parameters: ReadonlyArray<unknown>) => unknown
      answer(response, 200, await method.call(this.#controls, ...await read(request)))
    } catch (error) {
      const isRefusal = error instanceof SimulatorRefusal
      answer(response, isRefusal ? 409 : 400, { message: error instanceof Error ? error.message : String(error) })
    }
  }
}
