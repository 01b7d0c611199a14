/** A real nginx or Caddy with the configuration of docs/deploy, in front of test nodes. */
import { Effect, type Scope } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeHttps from "node:https"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { read } from "../docs/documents.ts"
import { freePort } from "./freePort.ts"
import { programAt } from "./programs.ts"
import { selfSigned } from "./selfSigned.ts"
import { eventually, longer } from "./waiting.ts"

/** The programs that the tests run if they are installed. */
export const proxyPrograms = ["nginx", "caddy"] as const
type ProxyProgram = (typeof proxyPrograms)[number]

export const hasProxy = (program: ProxyProgram): boolean => programAt(program) !== undefined

interface ProxyAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly text: string
}

/** What a request through the proxy sends besides its method and path. */
export interface ProxyRequest {
  readonly key?: string
  readonly json?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The address that the tests connect from, which is not that of the proxy. */
export const clientAddress = "127.0.0.2"

interface Place {
  readonly folder: string
  readonly port: number
  /** That of HTTP without TLS. */
  readonly plainPort: number
  readonly nodes: ReadonlyArray<number>
}

/** Fails when the file has changed so that the test would run something else. */
const replaced = (text: string, pairs: ReadonlyArray<readonly [string | RegExp, string]>) =>
  pairs.reduce((changed, [from, to]) => {
    const next = changed.replaceAll(from instanceof RegExp ? new RegExp(from.source, "gm") : from, to)
    if (next === changed) throw new Error(`The configuration has no ${String(from)}`)
    return next
  }, text)

/** The site as it is, but for its names, addresses and files. */
const nginxFiles = ({ folder, nodes, plainPort, port }: Place) => {
  const server = nodes.map((node) => `server 127.0.0.1:${node} max_fails=1 fail_timeout=5s;`).join(" ")
  const site = replaced(read("docs/deploy/nginx.conf"), [
    [/^ {2}server 10\.0\.0\.1:8080 .*$/, server],
    [/^ {2}server 10\.0\.0\.[23]:8080 .*$/, ""],
    [/^ {2}listen \[::\].*$/, ""],
    ["listen 443 ssl http2", `listen 127.0.0.1:${port} ssl http2`],
    [/^ {2}listen 80;$/, `listen 127.0.0.1:${plainPort};`],
    ["messaging.example.com", "localhost"],
    ["/etc/ssl/messaging/fullchain.pem", NodePath.join(folder, "cert.pem")],
    ["/etc/ssl/messaging/privkey.pem", NodePath.join(folder, "key.pem")]
  ])
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) =>
    `${kind}_temp_path ${folder}/${kind};`
  )
  return {
    "site.conf": site,
    "nginx.conf": `daemon off; pid ${folder}/pid; error_log ${folder}/error.log;
events {} http { access_log off; ${temporary.join(" ")} include ${folder}/site.conf; }`
  }
}

const caddyFiles = ({ folder, plainPort, port }: Place) => ({
  Caddyfile: replaced(read("docs/deploy/Caddyfile"), [
    [
      /^\{\$SITE:messaging\.example\.com\} \{/,
      `{\n\tadmin off\n\tauto_https disable_certs\n\thttp_port ${plainPort}\n\thttps_port ${port}\n}\n{$SITE} {\n\ttls ${folder}/cert.pem ${folder}/key.pem`
    ]
  ])
})

const files = { nginx: nginxFiles, caddy: caddyFiles }

const wordsOf: Readonly<Record<ProxyProgram, (folder: string) => ReadonlyArray<string>>> = {
  nginx: (folder) => ["-c", `${folder}/nginx.conf`, "-e", `${folder}/error.log`],
  caddy: (folder) => ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"]
}

const ask = (port: number, method: string, path: string, { headers, json, key }: ProxyRequest = {}) =>
  Effect.callback<ProxyAnswer>((resume) => {
    const body = json === undefined ? undefined : JSON.stringify(json)
    const request = NodeHttps.request({
      host: "127.0.0.1",
      servername: "localhost",
      port,
      method,
      path,
      ca: selfSigned.cert,
      localAddress: clientAddress,
      headers: {
        host: "localhost",
        ...(body !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...headers
      }
    }, (response) => {
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.on("end", () =>
        resume(Effect.succeed({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString("utf8")
        })))
    })
    // A refused body may break the connection before the answer is read.
    request.on("error", (error) => resume(Effect.succeed({ status: 0, headers: {}, text: error.message })))
    request.end(body)
    return Effect.sync(() => request.destroy())
  })

/** Starts the program in front of nodes at these ports. It is stopped with the scope. */
export const makeProxy = Effect.fnUntraced(function*(
  program: ProxyProgram,
  nodes: ReadonlyArray<number>
): Effect.fn.Return<
  {
    readonly url: string
    /** The same without TLS. */
    readonly plainUrl: string
    /** The certificate's file, for programs that must trust it. */
    readonly certificate: string
    readonly request: (method: string, path: string, options?: ProxyRequest) => Effect.Effect<ProxyAnswer>
  },
  never,
  Scope.Scope
> {
  const port = yield* freePort
  const plainPort = yield* freePort
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), `${program}-`))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  )
  // nginx's workers have another account.
  NodeFs.chmodSync(folder, 0o755)
  const contents = {
    "cert.pem": selfSigned.cert,
    "key.pem": selfSigned.key,
    ...files[program]({ folder, nodes, plainPort, port })
  }
  for (const [name, text] of Object.entries(contents)) NodeFs.writeFileSync(NodePath.join(folder, name), text)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      NodeChildProcess.spawn(programAt(program) ?? program, wordsOf[program](folder), {
        stdio: "ignore",
        env: {
          HOME: folder,
          XDG_DATA_HOME: folder,
          XDG_CONFIG_HOME: folder,
          SITE: `https://localhost:${port}`,
          NODES: nodes.map((node) => `127.0.0.1:${node}`).join(" ")
        }
      })
    ),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )
  yield* eventually(ask(port, "GET", "/openapi.json"), ({ status }) => status === 200, longer.start)
  return {
    url: `https://localhost:${port}`,
    plainUrl: `http://localhost:${plainPort}`,
    certificate: NodePath.join(folder, "cert.pem"),
    request: (method, path, options) => ask(port, method, path, options)
  }
})
