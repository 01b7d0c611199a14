import { createRequire } from "node:module"
import type * as Library from "undici"

const require = createRequire(import.meta.url)

/** The HTTP client, loaded at its first use: it takes 6 MB. */
export const undici = (): typeof Library => require("undici")

/** An agent that is made at its first use. */
export class LateAgent {
  readonly #options: () => Library.Agent.Options
  #agent: Library.Agent | undefined

  constructor(options: () => Library.Agent.Options) {
    this.#options = options
  }

  get(): Library.Agent {
    this.#agent ??= new (undici().Agent)(this.#options())
    return this.#agent
  }

  async destroy(): Promise<void> {
    await this.#agent?.destroy()
  }
}
