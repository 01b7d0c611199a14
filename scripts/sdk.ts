/**
 * Builds the packages of the SDKs into `dist/sdk`: `npm run sdk`. The folder is not part of the repository.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { contractOf } from "./sdk/generate.ts"
import { buildNpmPackage, bundle, entryIn } from "./sdk/npmPackage.ts"
import { buildPythonPackage } from "./sdk/pythonPackage.ts"
import { root } from "./sdk/sources.ts"

const build = Effect.gen(function*() {
  const directory = NodePath.join(root, "dist/sdk")
  const archive = yield* Effect.sync(() => buildNpmPackage(directory))
  const { length } = yield* Effect.promise(() => bundle(entryIn(directory)))
  yield* Console.log(`${NodePath.relative(root, archive)}: ${length} bytes minified for browsers`)
  const text = NodeFs.readFileSync(NodePath.join(root, "docs/openapi.json"), "utf8")
  const { project, wheel } = yield* Effect.sync(() => buildPythonPackage(directory, contractOf(text)))
  yield* Console.log(
    wheel === undefined
      ? `${NodePath.relative(root, project)}: no wheel, because Python's pip, setuptools or wheel is missing`
      : NodePath.relative(root, wheel)
  )
})

NodeRuntime.runMain(build)
