/**
 * A real Postfix (Debian's package, which brings the account `postfix` and the group `postdrop`) with its configuration,
 * queue, log and mailboxes in a temporary directory: the machine's own Postfix is not touched, and several may run.
 * There is no chroot and no DNS, and it listens on the loopback interface only.
 *
 * Only root may start it, because master gives each of its programs the account it needs. These programs walk through the
 * directory, so it is readable for all. `postfix start` creates the queue and data directories with their owners, and
 * returns when the port accepts connections. Mailboxes belong to user 65534, because Postfix does not
 * deliver to root.
 */
import { Effect, type Scope } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import * as NodeUtil from "node:util"
import { freePort } from "./freePort.ts"
import { programAt } from "./programs.ts"
import { eventually } from "./Service.ts"
import { longer } from "./waiting.ts"

const execute = NodeUtil.promisify(NodeChildProcess.execFile)
const program = programAt("postfix")

/** False where Postfix is not installed or the tests do not run as root. */
export const hasPostfix = program !== undefined && NodeProcess.getuid?.() === 0

export interface PostfixOptions {
  /** Local ports to which mail for a domain is relayed. */
  readonly routes: Readonly<Record<string, number>>
  /** A domain whose every address has a local mailbox. */
  readonly mailboxes?: string
  /** Further lines of main.cf, which override the others. */
  readonly settings?: string
}

export interface Postfix {
  readonly port: number
  /** Matching log lines, once there are this many. */
  readonly logged: (pattern: RegExp, count?: number) => Effect.Effect<ReadonlyArray<string>>
}

const unprivileged = 65_534

const routed = (routes: PostfixOptions["routes"]) =>
  Object.entries(routes).map(([domain, port]) => `{ ${domain} = smtp:[127.0.0.1]:${port} }`).join(", ")

const mainCf = (directory: string, { mailboxes = "", routes, settings = "" }: PostfixOptions) =>
  `compatibility_level = 3.6
queue_directory = ${directory}/queue
data_directory = ${directory}/data
maillog_file = ${directory}/log
maillog_file_prefixes = ${directory}
myhostname = relay.example
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
smtp_dns_support_level = disabled
smtp_tls_security_level = none
smtpd_tls_security_level = none
smtpd_peername_lookup = no
smtpd_relay_restrictions = permit_mynetworks, reject_unauth_destination
transport_maps = inline:{ ${routed(routes)} }
virtual_mailbox_domains = ${mailboxes}
virtual_mailbox_base = ${directory}/mail
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:${unprivileged}
virtual_gid_maps = static:${unprivileged}
delay_warning_time = 1s
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 1s
address_verify_poll_delay = 1s
${settings}
`

const masterCf = (port: number) =>
  `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
proxywrite unix - - n - 1 proxymap
smtp unix - - n - - smtp
relay unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`

const prepare = (port: number, options: PostfixOptions) => {
  const directory = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "postfix-"))
  const at = (name: string) => NodePath.join(directory, name)
  NodeFs.chmodSync(directory, 0o755)
  for (const name of ["etc", "queue", "mail"]) NodeFs.mkdirSync(at(name), { mode: 0o755 })
  NodeFs.chownSync(at("mail"), unprivileged, unprivileged)
  NodeFs.writeFileSync(at("etc/main.cf"), mainCf(directory, options))
  NodeFs.writeFileSync(at("etc/master.cf"), masterCf(port))
  return directory
}

const command = (directory: string, word: "start" | "stop") =>
  Effect.promise(() => execute(program ?? "postfix", ["-c", NodePath.join(directory, "etc"), word]))

const linesOf = (path: string) =>
  Effect.sync(() => NodeFs.existsSync(path) ? NodeFs.readFileSync(path, "utf8").split("\n") : [])

/** Starts a Postfix that relays for this machine, with DSN; it is stopped and removed with the scope. */
export const startPostfix = (options: PostfixOptions): Effect.Effect<Postfix, never, Scope.Scope> =>
  Effect.gen(function*() {
    const port = yield* freePort
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => prepare(port, options)),
      (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
    )
    yield* Effect.acquireRelease(command(directory, "start"), () => command(directory, "stop"))
    const log = linesOf(NodePath.join(directory, "log"))
    return {
      port,
      logged: (pattern, count = 1) =>
        eventually(
          Effect.map(log, (lines) => lines.filter((line) => pattern.test(line))),
          (fit) => fit.length >= count,
          longer.turn
        )
    }
  })
