import { Effect } from "effect"
import type { Load, Loaded } from "./httpLoad.ts"
import { runScript } from "./script.ts"

/** How long a load is measured. */
const seconds = 3

const connections = 64

/** An account and one of its keys. */
export interface KeyOwner {
  readonly accountId: number
  readonly keyId: number
  readonly key: string
}

/** A load of requests that read a key, or create one. Its paths begin with the prefix. */
export const loadOf = (callers: ReadonlyArray<KeyOwner>, method: "GET" | "POST") => (port: number, prefix: string) => {
  const path = (id: number) => `${prefix}/v1/api-keys${method === "GET" ? `/${id}` : ""}`
  const load: Load = {
    port,
    method,
    callers: callers.map(({ key, keyId }) => ({ key, path: path(keyId) })),
    body: method === "GET" ? "" : JSON.stringify({ name: "Bench" }),
    connections,
    warmUpSeconds: 1,
    seconds
  }
  return Effect.scoped(runScript<Loaded>("httpLoad.ts", load))
}
