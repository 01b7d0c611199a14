/** Builds the npm package of the TypeScript SDK: compiled files, declarations, README, licence and manifest. */
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { type OutputChunk, rolldown } from "rolldown"
import { readmeOf, root, version } from "./sources.ts"

const source = NodePath.join(root, "src/sdk")

/** The name on npm. */
const packageName = "messaging-service-sdk"

const entry = "MessagingClient"

const manifest = {
  name: packageName,
  version,
  description: "Client of Messaging Service: email, SMS, WhatsApp, one-time codes and webhooks",
  license: "MIT",
  type: "module",
  sideEffects: false,
  engines: { node: ">=20" },
  exports: {
    ".": { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
    "./package.json": "./package.json"
  },
  types: `./dist/${entry}.d.ts`,
  files: ["dist"],
  keywords: ["email", "sms", "whatsapp", "otp", "webhooks"]
}

/** Only what every runtime has: no types of Node. */
const compilerOptions = {
  target: "es2022",
  module: "nodenext",
  lib: ["es2023", "dom", "dom.iterable"],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noUncheckedIndexedAccess: true,
  declaration: true,
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true,
  rootDir: source
}

const filesIn = (directory: string) =>
  NodeFs.readdirSync(directory, { recursive: true, encoding: "utf8" }).map((file) => NodePath.join(directory, file))

const compile = (target: string) => {
  const config = NodePath.join(target, "tsconfig.json")
  NodeFs.writeFileSync(
    config,
    JSON.stringify({
      compilerOptions: { ...compilerOptions, outDir: NodePath.join(target, "dist") },
      files: [NodePath.join(source, `${entry}.ts`)]
    })
  )
  NodeChildProcess.execFileSync(NodePath.join(root, "node_modules/.bin/tsc"), ["-p", config], { stdio: "inherit" })
  NodeFs.rmSync(config)
  // The compiler rewrites the extensions of imports in code, but not in declarations.
  for (const file of filesIn(target).filter((file) => file.endsWith(".d.ts"))) {
    const text = NodeFs.readFileSync(file, "utf8")
    NodeFs.writeFileSync(file, text.replaceAll(/(from "\.[^"]*)\.ts"/g, "$1.js\""))
  }
}

/** Builds the package in a directory and returns the path of its archive beside it. */
export const buildNpmPackage = (directory: string): string => {
  const target = NodePath.join(directory, "npm")
  NodeFs.rmSync(target, { recursive: true, force: true })
  NodeFs.mkdirSync(target, { recursive: true })
  compile(target)
  NodeFs.writeFileSync(NodePath.join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  NodeFs.writeFileSync(NodePath.join(target, "README.md"), readmeOf("typescript"))
  NodeFs.copyFileSync(NodePath.join(source, "LICENSE"), NodePath.join(target, "LICENSE"))
  NodeChildProcess.execFileSync("npm", ["pack", "--silent", "--pack-destination", directory], {
    cwd: target,
    stdio: ["ignore", "ignore", "inherit"]
  })
  return NodePath.join(directory, `${packageName}-${version}.tgz`)
}

/** One minified file for browsers, of a module that imports the built package by its path. */
export const bundle = async (input: string): Promise<string> => {
  const build = await rolldown({ input, platform: "browser", treeshake: true })
  const { output } = await build.generate({ format: "esm", minify: true })
  await build.close()
  return output.filter((file): file is OutputChunk => file.type === "chunk").map(({ code }) => code).join("\n")
}

/** The built package's entry. */
export const entryIn = (directory: string): string => NodePath.join(directory, `npm/dist/${entry}.js`)
