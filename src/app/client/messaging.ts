#!/usr/bin/env node
import { loadProgram } from "../shell/bundle.ts"

void loadProgram("messaging", () => import("./run.ts"))
