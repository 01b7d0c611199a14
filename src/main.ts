#!/usr/bin/env node
import * as NodeModule from "node:module"

// Before the program is loaded: a start finds what the one before it has compiled, which saves a third of its time.
NodeModule.enableCompileCache()
void import("./app/cli/run.ts")
