#!/usr/bin/env node
import manifest from "../package.json" with { type: "json" }
import { signingThreads } from "./app/server/signingThreads.ts"
import { loadProgram } from "./app/shell/bundle.ts"

const words = process.argv.slice(2)

if (words.length === 1 && ["--version", "-v"].includes(words[0] ?? "")) {
  // Without the program, which takes a second to load.
  process.stdout.write(`${manifest.name} ${manifest.version}\n`)
} else {
  // oxlint-disable-next-line project/effect-idioms -- libuv looks there, once, when the first thread is needed
  process.env["UV_THREADPOOL_SIZE"] ??= String(signingThreads)
  void loadProgram("messaging-service", () => import("./app/cli/Cli.ts")).then(({ run }) => run())
}
