import * as NodeHttps from "node:https"
import * as NodeNet from "node:net"

interface Origin {
  readonly host: string
  readonly port: number
}

class PlainAgent extends NodeHttps.Agent {
  readonly #origin: Origin
  constructor(origin: Origin) {
    super()
    this.#origin = origin
  }

  override createConnection(): NodeNet.Socket {
    return NodeNet.connect(this.#origin)
  }
}

/**
 * An agent of `node:https` without TLS, for a library that puts `https://` in front of every host. All its requests go to
 * this origin, whatever host a URL has.
 */
export const plainAgent = (origin: Origin): NodeHttps.Agent => new PlainAgent(origin)
