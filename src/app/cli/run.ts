/** Runs the command line as this process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { program, teardown } from "./Cli.ts"

NodeRuntime.runMain(program, { teardown, disableErrorReporting: true })
