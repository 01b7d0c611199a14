/**
 * Writes docs/openapi.json, and the generated part of the SDK: `node scripts/openapi.ts`. The service serves the same
 * document at /openapi.json. A test checks that the files are current.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import { OpenApi } from "effect/http-api"
import * as NodePath from "node:path"
import { documentedContract } from "../src/app/server/documentedContract.ts"
import { writeGenerated } from "./sdk/generate.ts"

/** The path of the file. */
export const path = NodePath.resolve(import.meta.dirname, "../docs/openapi.json")

/** The content of the file. */
export const text = `${JSON.stringify(OpenApi.fromApi(documentedContract), null, 2)}\n`

const write = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, text)).pipe(
  Effect.andThen(Effect.sync(() => writeGenerated(text)))
)

if (import.meta.main) NodeRuntime.runMain(write.pipe(Effect.provide(NodeServices.layer)))
