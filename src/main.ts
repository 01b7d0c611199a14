#!/usr/bin/env node
import { NodeRuntime } from "@effect/platform-node"
import { program, teardown } from "./app/cli/Cli.ts"

NodeRuntime.runMain(program, { teardown, disableErrorReporting: true })
