/** Builds the Python package: hand-written modules, the generated core, and a wheel if this machine has Python. */
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import type { Contract } from "./contract.ts"
import { pythonFiles } from "./python.ts"
import { readmeOf, root, version } from "./sources.ts"

const source = NodePath.join(root, "src/sdk")

const hasModules = "import sys, importlib.util as u; sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"

/** The first Python that has these modules; Debian's, if another is first in the path. */
export const pythonWith = (modules: ReadonlyArray<string>): string | undefined =>
  ["python3", "/usr/bin/python3"].find((program) =>
    NodeChildProcess.spawnSync(program, ["-c", hasModules, ...modules], { stdio: "ignore" }).status === 0
  )

/** Modules that build a wheel without a network. */
const builders = ["pip", "setuptools", "wheel"]

const wheelOf = (python: string, directory: string, project: string) => {
  NodeChildProcess.execFileSync(
    python,
    [
      "-m",
      "pip",
      "wheel",
      "--quiet",
      "--no-deps",
      "--no-index",
      "--no-build-isolation",
      "--wheel-dir",
      directory,
      project
    ],
    { stdio: ["ignore", "ignore", "inherit"] }
  )
  // What the build leaves behind.
  for (const name of ["build", "messaging_service_sdk.egg-info"]) {
    NodeFs.rmSync(NodePath.join(project, name), { recursive: true, force: true })
  }
  return NodePath.join(directory, `messaging_service_sdk-${version}-py3-none-any.whl`)
}

/** Writes the project into a directory. Returns its folder, and its wheel if this machine can build one. */
export const buildPythonPackage = (directory: string, contract: Contract) => {
  const project = NodePath.join(directory, "python")
  NodeFs.rmSync(project, { recursive: true, force: true })
  NodeFs.cpSync(NodePath.join(source, "python"), project, {
    recursive: true,
    filter: (path) => !path.includes("__pycache__")
  })
  NodeFs.copyFileSync(NodePath.join(source, "LICENSE"), NodePath.join(project, "LICENSE"))
  NodeFs.writeFileSync(NodePath.join(project, "README.md"), readmeOf("python"))
  const generated = NodePath.join(project, "messaging_service/_generated")
  NodeFs.mkdirSync(generated)
  for (const [name, text] of Object.entries(pythonFiles(contract, version))) {
    NodeFs.writeFileSync(NodePath.join(generated, name), text)
  }
  const python = pythonWith(builders)
  return { project, wheel: python === undefined ? undefined : wheelOf(python, directory, project) }
}
