/**
 * The files of Compose, Kubernetes and systemd. kubectl builds the Kustomization, and systemd-analyze reads the unit,
 * if they are installed. Without a cluster and without Docker, the rest is compared with the settings of this service.
 */
import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { onTestFinished } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { read, root } from "../docs/documents.ts"
import { blocksOf } from "../support/guideBlocks.ts"
import { programAt } from "../support/programs.ts"

/** The fields of manifests that the tests read. */
interface Named {
  readonly name: string
}
interface Port extends Named {
  readonly port: number
  readonly containerPort: number
  readonly targetPort: string
}
interface Rule {
  readonly from: ReadonlyArray<unknown>
  readonly ports: ReadonlyArray<Port>
}
interface Scaled {
  readonly type: string
  readonly pods: { readonly metric: Named }
}
interface Composed {
  readonly image: string
  readonly read_only?: boolean
  readonly cap_drop?: ReadonlyArray<string>
  readonly security_opt?: ReadonlyArray<string>
  readonly environment: Readonly<Record<string, string>>
  readonly env_file?: string
  readonly ports?: ReadonlyArray<string>
  readonly volumes?: ReadonlyArray<unknown>
  readonly stop_grace_period: string
  readonly build: { readonly context: string; readonly dockerfile: string }
}

const settings = new Map(
  [...read("docs/settings.md").matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name = "", fallback = ""]) => [
    name,
    fallback.replaceAll("`", "")
  ])
)

const run = (program: string, ...words: ReadonlyArray<string>) =>
  NodeChildProcess.spawnSync(programAt(program) ?? program, words, { cwd: root, encoding: "utf8" })

/** Aliases and merges of YAML are resolved. */
const yaml = (text: string) => parseAllDocuments(text, { merge: true }).map((each) => each.toJS())

const assertSettings = (names: ReadonlyArray<string>) => {
  for (const name of names) assert.isTrue(settings.has(name), `${name} is a setting`)
}

for (const file of ["compose.yaml", "compose.three-nodes.yaml"]) {
  describe(`docs/deploy/${file}`, () => {
    const { services, volumes } = parse(read(`docs/deploy/${file}`), { merge: true })
    const nodes = Object.values<Composed>(services).filter(({ image }) => image === "messaging")

    it("sets only settings that exist", () => {
      assert.isAtLeast(nodes.length, 1)
      for (const { environment } of nodes) assertSettings(Object.keys(environment))
    })

    it("gives nodes every setting of .env as it is there, but for those that Compose decides", () => {
      const always = ["MODE", "DATABASE_URL", "HOST", "PORT", "METRICS_HOST", "METRICS_PORT", "RUNNER_PORT"]
      const decided = file === "compose.yaml" ? [] : ["PUBLIC_URL", "TRUSTED_PROXIES", "RUNNER_HOST"]
      for (const { env_file, environment, volumes: mounted = [] } of nodes) {
        assert.strictEqual(env_file, ".env")
        const own = Object.entries(environment).filter(([name, value]) => !value.includes(`\${${name}:`))
        assert.sameMembers(own.map(([name]) => name), [
          ...always,
          ...decided
        ])
        const [, profile] = /^\$\{SMS_HTTP_PROFILE:\+(.+)\}$/.exec(environment["SMS_HTTP_PROFILE"] ?? "") ?? []
        const bind = { type: "bind", source: "${SMS_HTTP_PROFILE:-/dev/null}", target: profile, read_only: true }
        assert.deepInclude(mounted, bind)
      }
    })

    it("gives nodes no rights, a read-only root file system, and the time that a stop takes", () => {
      for (const node of nodes) {
        assert.deepInclude(node, { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] })
        assert.isAtLeast(Number.parseInt(node.stop_grace_period, 10), 15 + Number(settings.get("DRAIN_SECONDS")))
        assert.isTrue(NodeFs.existsSync(NodePath.join(root, "docs/deploy", node.build.context, node.build.dockerfile)))
      }
    })

    it("publishes no port of a node beyond this machine, and names only volumes and files that exist", () => {
      for (const { ports = [] } of nodes) for (const port of ports) assert.match(port, /^127\.0\.0\.1:/)
      for (const { volumes: mounted = [] } of Object.values<Composed>(services)) {
        for (const mount of mounted.filter((each) => typeof each === "string")) {
          const [source = ""] = mount.split(":")
          if (source.startsWith("./")) assert.isTrue(NodeFs.existsSync(NodePath.join(root, "docs/deploy", source)))
          else assert.property(volumes, source)
        }
      }
    })
  })
}

describe("docs/deploy/compose.three-nodes.yaml", () => {
  const { networks, services } = parse(read("docs/deploy/compose.three-nodes.yaml"), { merge: true })

  it("has three nodes that know their own names, and lets Caddy and PostgreSQL know all of them", () => {
    const names = Object.keys(services).filter((name) => services[name].image === "messaging")
    assert.deepStrictEqual(names.map((name) => services[name].environment.RUNNER_HOST), names)
    assert.strictEqual(services.caddy.environment.NODES, names.map((name) => `${name}:8080`).join(" "))
    const [network] = networks.nodes.ipam.config
    assert.strictEqual(services.node1.environment.TRUSTED_PROXIES, network.subnet)
    const connections = Number(settings.get("DATABASE_CONNECTIONS")) + 15
    const limit = Number(/max_connections=(\d+)/.exec(services.postgres.command.join(" "))?.[1])
    assert.isAtLeast(limit, (names.length + 1) * connections)
  })
})

describe("docs/deploy/compose.yaml in the guides", () => {
  const { services } = parse(read("docs/deploy/compose.yaml"))
  const { POSTGRES_USER: role } = services.postgres.environment

  it("the backup and the upgrade name its services, its database and its role", () => {
    const commands = ["backup", "upgrade"].flatMap((name) => blocksOf(name, "console")).join("\n")
      .split("\n").filter((command) => /^docker compose (?:exec|run|up|stop)/.test(command))
    const named = commands.flatMap((command) => / (messaging|postgres) (?:[a-z]|$)/.exec(command)?.slice(1) ?? [])
    assert.deepStrictEqual([...new Set(named)].toSorted(), Object.keys(services).toSorted())
    const ofServer = commands.filter((command) => command.includes(" -U "))
    assert.isAtLeast(ofServer.length, 4)
    for (const command of ofServer) {
      assert.match(command, new RegExp(`^docker compose exec -T postgres \\w+ -U ${role} `))
    }
    const { pathname } = new URL(services.messaging.environment.DATABASE_URL.replace(/\$\{.*?\}/, "x"))
    const dump = ofServer.find((command) => command.includes(" pg_dump ")) ?? ""
    assert.include(dump, ` ${pathname.slice(1)} > "$BACKUP"`)
    // Nodes find the restored database under the name of the old one.
    assert.include(commands.join("\n"), `alter database restored rename to ${pathname.slice(1)}`)
  })
})

describe("docs/deploy/README.md", () => {
  it("links to every file and folder of docs/deploy, and to every guide for operators", () => {
    const links = new Set([...read("docs/deploy/README.md").matchAll(/\]\((.+?)\)/g)].map(([, target]) => target))
    const files = NodeFs.readdirSync(NodePath.join(root, "docs/deploy")).filter((name) => name !== "README.md")
    const [, operators = ""] = read("docs/guides/README.md").split("For operators:")
    const guides = [...operators.matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => `../guides/${name}`)
    assert.isAtLeast(guides.length, 5)
    assert.deepStrictEqual([...files, ...guides].filter((target) => !links.has(target)), [])
  })
})

describe("docs/deploy/kubernetes", () => {
  const files = NodeFs.readdirSync(NodePath.join(root, "docs/deploy/kubernetes"))
  const [kustomization] = yaml(read("docs/deploy/kubernetes/kustomization.yaml"))
  const resources = files.filter((file) => file !== "kustomization.yaml").flatMap((file) =>
    yaml(read(`docs/deploy/kubernetes/${file}`))
  )
  const ofKind = (kind: string) => resources.find((resource) => resource.kind === kind)
  const pod = ofKind("Deployment").spec.template
  const [container] = pod.spec.containers

  it.skipIf(programAt("kubectl") === undefined)("kubectl builds every resource, each with a kind and a name", () => {
    const built = run("kubectl", "kustomize", "docs/deploy/kubernetes")
    assert.strictEqual(built.status, 0, built.stderr)
    const kinds = yaml(built.stdout).map(({ kind }) => kind)
    assert.sameMembers(kinds, [...resources.map(({ kind }) => kind), "ConfigMap"])
    assert.include(built.stdout, "image: registry.example.com/messaging:0.1.0")
  })

  it("lists every file, and sets only settings that exist", () => {
    assert.sameMembers(kustomization.resources, files.filter((file) => file !== "kustomization.yaml"))
    const [{ literals }] = kustomization.configMapGenerator
    assertSettings(literals.map((literal: string) => literal.split("=")[0]))
    assertSettings(container.env.map(({ name }: Named) => name))
  })

  it("the guide names each file, and makes the namespace and each secret before the resources that need them", () => {
    const guide = read("docs/guides/three-nodes.md")
    assert.deepStrictEqual(files.filter((file) => !guide.includes(`\`${file}\``)), [])
    const block = blocksOf("three-nodes", "console").find((commands) => commands.includes("kubectl")) ?? ""
    const commands = block.trim().split("\n")
    const placeOf = (pattern: RegExp) => commands.findIndex((command) => pattern.test(command))
    const [{ newName, newTag }] = kustomization.images
    const image = `${newName}:${newTag}`
    assert.isTrue(commands.some((command) => command.startsWith("docker push ") && command.endsWith(image)))
    const made = [...block.matchAll(/create secret \w+ (\S+)/g)].map(([, name]) => name)
    const named = container.envFrom.flatMap(({ secretRef }: { readonly secretRef?: Named }) => secretRef?.name ?? [])
    const [{ secretName }] = ofKind("Ingress").spec.tls
    assert.deepStrictEqual(made, [...named, secretName])
    assertSettings([...block.matchAll(/--from-literal=(\w+)=/g)].map(([, name = ""]) => name))
    const steps = [
      /^docker build /,
      /^docker push /,
      /^kubectl create namespace /,
      /create secret generic/,
      /create secret tls/
    ]
    const places = [...steps, /^kubectl apply -k docs\/deploy\/kubernetes$/, /rollout status/].map(placeOf)
    assert.isAtLeast(places[0] ?? -1, 0)
    assert.deepStrictEqual(places, places.toSorted((a, b) => a - b))
    const spaces = [...block.matchAll(/(?:-n|create namespace) (\S+)/g)].map(([, name]) => name)
    assert.deepStrictEqual([...new Set(spaces)], [kustomization.namespace])
    const deployments = [...block.matchAll(/deployment\/(\S+)/g)].map(([, name]) => name)
    assert.deepStrictEqual([...new Set(deployments)], [ofKind("Deployment").metadata.name])
  })

  it("selects the same pods everywhere, and names only ports that they have", () => {
    const { labels } = pod.metadata
    for (const selector of [ofKind("Deployment").spec.selector.matchLabels, ofKind("Service").spec.selector]) {
      assert.deepStrictEqual(selector, labels)
    }
    assert.deepStrictEqual(ofKind("PodDisruptionBudget").spec.selector.matchLabels, labels)
    assert.deepStrictEqual(ofKind("NetworkPolicy").spec.podSelector.matchLabels, labels)
    const ports = new Map<string, number>(container.ports.map((port: Port) => [port.name, port.containerPort]))
    for (const { targetPort } of ofKind("Service").spec.ports) assert.isTrue(ports.has(targetPort))
    for (
      const [probe, path] of [
        ["startupProbe", "/health/live"],
        ["livenessProbe", "/health/live"],
        ["readinessProbe", "/health/ready"]
      ] as const
    ) {
      assert.deepStrictEqual(container[probe].httpGet, { path, port: "http" })
    }
    const open = ofKind("NetworkPolicy").spec.ingress.flatMap((rule: Rule) => rule.ports.map(({ port }) => port))
    assert.sameMembers(open, [...ports.values()])
    const dockerfile = read("docs/deploy/Dockerfile")
    for (const [name, setting] of [["http", "PORT"], ["metrics", "METRICS_PORT"], ["runner", "RUNNER_PORT"]] as const) {
      assert.include(dockerfile, ` ${setting}=${ports.get(name)}`)
    }
  })

  it("lets only nodes reach the runner port", () => {
    const rule = ofKind("NetworkPolicy").spec.ingress.find(({ ports }: Rule) =>
      ports.some(({ port }) => port === 34431)
    )
    assert.deepStrictEqual(rule.from, [{ podSelector: { matchLabels: pod.metadata.labels } }])
  })

  it("gives pods no rights and the time that a stop takes", () => {
    assert.deepInclude(pod.spec.securityContext, { runAsNonRoot: true, runAsUser: 65532 })
    assert.deepStrictEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] }
    })
    const [{ literals }] = kustomization.configMapGenerator
    const drain = Number(literals.find((literal: string) => literal.startsWith("DRAIN_SECONDS=")).split("=")[1])
    assert.isAtLeast(pod.spec.terminationGracePeriodSeconds, drain + 15)
    const { failureThreshold, periodSeconds } = container.readinessProbe
    assert.isAbove(drain, failureThreshold * periodSeconds)
  })

  it("scales on a metric that nodes have, and between numbers that the budget allows", () => {
    const { maxReplicas, metrics, minReplicas } = ofKind("HorizontalPodAutoscaler").spec
    const { metric } = metrics.find(({ type }: Scaled) => type === "Pods").pods
    assert.include(read("docs/guides/monitoring.md"), `| \`${metric.name}\` |`)
    assert.isTrue(minReplicas >= 2 && minReplicas <= maxReplicas)
  })

  it("leaves the number of nodes to the autoscaler, and the guide has connections for its most and one more", () => {
    // With a number in the manifest, each apply would take away the nodes that the autoscaler has added.
    assert.notProperty(ofKind("Deployment").spec, "replicas")
    const { maxSurge } = ofKind("Deployment").spec.strategy.rollingUpdate
    const nodes = ofKind("HorizontalPodAutoscaler").spec.maxReplicas + maxSurge
    const [{ literals }] = kustomization.configMapGenerator
    const [, given] = /DATABASE_CONNECTIONS=(\d+)/.exec(literals.join("\n")) ?? []
    const [, limit] = /max_connections = (\d+)/.exec(read("docs/guides/three-nodes.md")) ?? []
    // PostgreSQL keeps three connections for superusers.
    assert.isAtLeast(Number(limit), nodes * (Number(given) + 15) + 3)
  })

  it("the public paths of the Ingress are those of nginx and Caddy", () => {
    const paths: ReadonlyArray<string> = ofKind("Ingress").spec.rules[0].http.paths.map((
      { path }: { readonly path: string }
    ) => path)
    const [, caddy = ""] = /@public path (.*)/.exec(read("docs/deploy/Caddyfile")) ?? []
    // A prefix covers the path itself and those below it.
    const ofCaddy = caddy.split(" ").map((path) => path.replace(/\*$/, "")).filter((path) =>
      !/^\/(?:docs|console)\/$/.test(path)
    )
    assert.sameMembers([...paths], ofCaddy)
  })

  it("the public paths of Caddy are those of the guide", () => {
    const [, caddy = ""] = /@public path (.*)/.exec(read("docs/deploy/Caddyfile")) ?? []
    const [, table = ""] = read("docs/guides/production.md").split("| Public path |")
    const named = table.slice(0, table.indexOf("\n\n")).split("\n").flatMap((row) =>
      [...(row.split("|")[1] ?? "").matchAll(/`(.+?)`/g)].map(([, path = ""]) => path)
    )
    assert.sameMembers(named, caddy.split(" ").map((path) => path.replace(/\*$/, "")))
  })
})

describe("docs/deploy/messaging.service", () => {
  const file = "docs/deploy/messaging.service"
  const unit = read(file)
  const hasAnalyze = programAt("systemd-analyze") !== undefined

  it("sets only settings that exist, and gives a stop its time", () => {
    const [, list = ""] = /^Environment=(.*)$/m.exec(unit) ?? []
    assertSettings(
      list.split(" ").map((pair) => pair.split("=")[0] ?? "").filter((name) => name !== "NODE_COMPILE_CACHE")
    )
    assert.isAtLeast(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]), 15 + Number(settings.get("DRAIN_SECONDS")))
  })

  it.skipIf(!hasAnalyze)("exposes at most 2.0 of 10 by the judgement of systemd-analyze", () => {
    const { status, stdout } = run("systemd-analyze", "security", "--offline=true", "--threshold=20", file)
    assert.match(stdout, /Overall exposure level for messaging\.service: [01]\.\d/)
    assert.strictEqual(status, 0, stdout)
  })

  it.skipIf(!hasAnalyze)("has no line that systemd does not understand", () => {
    const folder = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "unit-"))
    onTestFinished(() => NodeFs.rmSync(folder, { recursive: true }))
    // The program of the unit is elsewhere here.
    const copy = NodePath.join(folder, "messaging.service")
    NodeFs.writeFileSync(copy, unit.replaceAll("/opt/messaging/node_modules/.bin/node", process.execPath))
    const { stderr } = run("systemd-analyze", "verify", copy)
    assert.notInclude(stderr, "messaging.service")
  })
})
