import * as NodeHttp from "node:http"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import type { Controls } from "./Controls.ts"
import { controlPath, type Verb } from "./ControlServer.ts"

/** The verbs of a simulator in another process. */
export type RemoteControls = {
  readonly [V in Verb]: (...parameters: Parameters<Controls[V]>) => Promise<Awaited<ReturnType<Controls[V]>>>
}

/** Milliseconds until a call fails. After a node was killed, its port may belong to a program that never answers. */
const timeout = 10_000

const post = (url: string, body: string): Promise<{ readonly status: number; readonly text: string }> =>
  new Promise((resolve, reject) => {
    const request = NodeHttp.request(url, { method: "POST", headers: { "content-type": "application/json" } })
    request.on("error", reject)
    request.setTimeout(timeout, () => request.destroy(new Error("no answer from the simulator")))
    request.on("response", (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    request.end(body)
  })

/**
 * Calls one verb of the simulator at this origin (`http://127.0.0.1:port`). Rejects with a `SimulatorRefusal` if the
 * verb is not possible, and with the connection's error if no simulator listens.
 */
export const callControl = async <V extends Verb>(
  origin: string,
  verb: V,
  parameters: Parameters<Controls[V]>
): Promise<Awaited<ReturnType<Controls[V]>>> => {
  const { status, text } = await post(`${origin}${controlPath}${verb}`, JSON.stringify(parameters))
  const body = JSON.parse(text)
  if (status !== 200) throw new SimulatorRefusal(String(body.message))
  return body
}

/** The verbs of the simulator at an origin. */
export const remoteControls = (origin: string): RemoteControls =>
  // A proxy, because all verbs are called the same way.
  new Proxy({} as RemoteControls, {
    get: (_target, verb: Verb) => (...parameters: Parameters<Controls[Verb]>) => callControl(origin, verb, parameters)
  })
