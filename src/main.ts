#!/usr/bin/env node
import * as NodeFs from "node:fs"
import * as NodeModule from "node:module"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }
import { bundleOf } from "./app/cli/bundle.ts"
import type * as Cli from "./app/cli/Cli.ts"
import { signingThreads } from "./app/server/signingThreads.ts"

const words = process.argv.slice(2)

if (words.length === 1 && ["--version", "-v"].includes(words[0] ?? "")) {
  // Without the program, which takes a second to load.
  process.stdout.write(`${manifest.name} ${manifest.version}\n`)
} else {
  // Only this account reads the files that the process creates.
  process.umask(0o077)
  // Before the program is loaded: a start finds what the one before it has compiled, which saves a third of its time. The
  // process runs what it finds there, so the directory is not below /tmp, where other accounts can create it first.
  NodeModule.enableCompileCache(fileURLToPath(new URL("../node_modules/.cache/compile", import.meta.url)))
  // oxlint-disable-next-line project/effect-idioms -- libuv looks there, once, when the first thread is needed
  process.env["UV_THREADPOOL_SIZE"] ??= String(signingThreads)
  const bundle = bundleOf(fileURLToPath(new URL("..", import.meta.url)))
  const program: Promise<typeof Cli> = NodeFs.existsSync(bundle) ? import(bundle) : import("./app/cli/Cli.ts")
  void program.then(({ run }) => run())
}
