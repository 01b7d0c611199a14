import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

// Servers are in directories that only root's PATH has.
const places = [...(NodeProcess.env["PATH"] ?? "").split(":"), "/usr/sbin", "/sbin"]

/** Path of an installed program; tests that need a missing one are skipped. */
export const programAt = (name: string): string | undefined =>
  places.map((place) => NodePath.join(place, name)).find((path) => NodeFs.existsSync(path))
