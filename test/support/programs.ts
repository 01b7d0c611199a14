import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

/** Servers stand in directories that only root's PATH has. */
const places = [...(NodeProcess.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"]

/** Where the system has a program, if it has it: tests that need it are skipped where it is missing. */
export const programAt = (name: string): string | undefined =>
  places.map((place) => NodePath.join(place, name)).find((path) => NodeFs.existsSync(path))
