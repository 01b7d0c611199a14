import * as NodeHttp from "node:http"
import * as NodeHttps from "node:https"
import type { Duplex } from "node:stream"

type Written = (error?: Error | null) => void

/** Not a byte goes out before `durable` has ended; after it has failed none does any more. */
const waiting = (line: Duplex, durable: () => Promise<unknown>) => {
  const write = line._write.bind(line)
  const writeMany = line._writev?.bind(line)
  const whenDurable = (go: () => void, done: Written) => {
    durable().then(go, (error: unknown) => done(error instanceof Error ? error : new Error("not durable")))
  }
  line._write = (chunk: unknown, encoding, done) => whenDurable(() => write(chunk, encoding, done), done)
  if (writeMany !== undefined) line._writev = (chunks, done) => whenDurable(() => writeMany(chunks, done), done)
  return line
}

/**
 * Makes lines to WhatsApp on which bytes wait until the ratchets that they were made by are durable. In the line and not
 * in the library, which would otherwise encrypt one message after the other. What has waited goes out in one piece.
 */
export const durableLines = (url: string, durable: () => Promise<unknown>): NodeHttps.Agent => {
  // The library names the type of the one, and takes the other where there is no TLS.
  const agent = new URL(url).protocol === "wss:" ? new NodeHttps.Agent() : new NodeHttp.Agent() as NodeHttps.Agent
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, done) => {
    const line = connect(options, done)
    return line ? waiting(line, durable) : line
  }
  return agent
}
