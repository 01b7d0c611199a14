/** Builds the root file system that docs/deploy/Dockerfile describes, by its own instructions, where no Docker runs. */
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { promisify } from "node:util"
import { read, root } from "../docs/documents.ts"

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of each stage. */
const stagesOf = (dockerfile: string): ReadonlyArray<ReadonlyArray<Instruction>> => {
  const lines = dockerfile.replaceAll("\\\n", " ").split("\n").filter((line) => !/^\s*(?:#|$)/.test(line))
  const stages: Array<Array<Instruction>> = []
  for (const line of lines) {
    const [, name = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? []
    if (name === "FROM") stages.push([])
    stages.at(-1)?.push({ name, text })
  }
  return stages
}

export const dockerfile = read("docs/deploy/Dockerfile")

export const [build = [], image = []] = stagesOf(dockerfile)

/** The arguments of the last instruction with this name. */
export const argumentsOf = (stage: ReadonlyArray<Instruction>, name: string): string =>
  stage.findLast((instruction) => instruction.name === name)?.text ?? ""

const execute = promisify(NodeChildProcess.execFile)

const copy = (from: string, to: string) =>
  Effect.sync(() => {
    NodeFs.mkdirSync(NodePath.dirname(to), { recursive: true })
    // As .dockerignore says: packages that a script has installed for itself stay behind.
    const filter = (path: string) => !from.startsWith(root) || NodePath.basename(path) !== "node_modules"
    NodeFs.cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter })
  })

/** `COPY a b ./` puts each file below the target; `COPY a ./a` gives it the target's name. */
const copyAll = ({ from, text, to }: { readonly from: string; readonly to: string; readonly text: string }) => {
  const words = text.split(/\s+/).filter((word) => !word.startsWith("--"))
  const target = NodePath.join(to, words.at(-1) ?? "")
  const sources = words.slice(0, -1).map((source) => NodePath.join(from, source))
  return Effect.forEach(
    sources,
    (source) => copy(source, words.at(-1)?.endsWith("/") ? NodePath.join(target, NodePath.basename(source)) : target),
    { discard: true }
  )
}

/** Runs the instructions of the first stage in a directory instead of `/app`, with the machine's npm. */
export const runBuild = (directory: string, arch: string) =>
  Effect.forEach(build, ({ name, text }) => {
    if (name === "COPY") return copyAll({ from: root, to: directory, text })
    if (name !== "RUN") return Effect.void
    const env = { ...process.env, TARGETARCH: arch }
    return Effect.promise(() => execute("sh", ["-ec", text], { cwd: directory, env, maxBuffer: 2 ** 26 }))
  }, { discard: true })

/** Applies the COPY instructions of the image: from the stage's directory, or from the repository. */
export const fillImage = (directory: string, builtIn: string) =>
  Effect.forEach(image, ({ name, text }) => {
    if (name !== "COPY") return Effect.void
    const isBuilt = text.includes("--from=build")
    const to = NodePath.join(directory, "app")
    return copyAll({ from: isBuilt ? builtIn : root, to, text: isBuilt ? text.replaceAll("/app/", "") : text })
  }, { discard: true })

/** The packages of which Google builds `distroless/cc-debian12`. */
const basePackages = [
  "base-files",
  "netbase",
  "tzdata",
  "ca-certificates",
  "libc6",
  "libssl3",
  "libgcc-s1",
  "libstdc++6",
  "libgomp1"
]

/** Files of the base image: those of the same packages of this machine's Debian, with certificates and the user `nonroot`. */
export const fillBase = (directory: string) =>
  Effect.promise(async () => {
    for (const name of ["bin", "sbin", "lib", "lib64"]) {
      NodeFs.mkdirSync(NodePath.join(directory, "usr", name), { recursive: true })
      NodeFs.symlinkSync(`usr/${name}`, NodePath.join(directory, name))
    }
    for (const name of basePackages) {
      const { stdout } = await execute("dpkg", ["-L", name]).catch(() => ({ stdout: "" }))
      const files = stdout.split("\n").filter((path) =>
        !/^\/usr\/share\/(?:doc|man|lintian|locale)/.test(path) &&
        NodeFs.statSync(path, { throwIfNoEntry: false })?.isFile()
      )
      if (files.length > 0) await execute("sh", ["-c", "cd / && cp -a --parents \"$@\" \"$0\"", directory, ...files])
    }
    for (const place of ["tmp", "proc", "dev", "etc/ssl/certs"]) {
      NodeFs.mkdirSync(NodePath.join(directory, place), { recursive: true })
    }
    NodeFs.cpSync("/etc/ssl/certs/ca-certificates.crt", NodePath.join(directory, "etc/ssl/certs/ca-certificates.crt"))
    NodeFs.writeFileSync(
      NodePath.join(directory, "etc/passwd"),
      "root:x:0:0::/root:/sbin/nologin\nnonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n"
    )
    NodeFs.writeFileSync(NodePath.join(directory, "etc/hosts"), "127.0.0.1 localhost\n")
  })

/** Megabytes of the regular files below a directory. */
export const megabytesOf = (directory: string): number =>
  NodeFs.readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + NodeFs.lstatSync(NodePath.join(entry.parentPath, entry.name)).size, 0) / 1e6
