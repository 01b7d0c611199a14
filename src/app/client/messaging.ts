#!/usr/bin/env node
import * as NodeModule from "node:module"
import { fileURLToPath } from "node:url"

// Only this account reads the files that the process creates.
process.umask(0o077)
// Before the program is loaded: a start finds what the one before it has compiled.
NodeModule.enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/compile", import.meta.url)))
void import("./run.ts")
