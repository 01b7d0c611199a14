import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { runScript } from "./script.ts"
import type { BenchDatabase } from "./service.ts"

const programs = () => {
  const root = "/usr/lib/postgresql"
  const versions = NodeFs.existsSync(root) ? NodeFs.readdirSync(root).toSorted() : []
  return versions.map((version) => NodePath.join(root, version, "bin/pgbench")).filter((path) =>
    NodeFs.existsSync(path)
  )
}

const pgbench = (program: string, { directory, socket }: BenchDatabase) => (statement: string, seconds: number) =>
  Effect.callback<number>((resume) => {
    const file = NodePath.join(directory, "statement.sql")
    NodeFs.writeFileSync(file, statement)
    const options = `-n -M prepared -c 10 -j 2 -T ${seconds} -f ${file} -h ${
      NodePath.dirname(socket)
    } -p 5432 -U postgres postgres`
    NodeChildProcess.execFile(program, options.split(" "), (error, stdout) => {
      const tps = /tps = ([\d.]+)/.exec(stdout)?.[1]
      resume(error === null && tps !== undefined ? Effect.succeed(Number(tps)) : Effect.die(error ?? stdout))
    })
  })

/** Executions per second of one statement by ten clients, and the name of the client program. */
export const statementLimit = (database: BenchDatabase) => {
  const program = programs().at(-1)
  if (program !== undefined) {
    return {
      name: "pgbench, the statement alone",
      measure: pgbench(program, database)
    }
  }
  return {
    name: "postgres.js, the statement alone",
    measure: (statement: string, seconds: number) =>
      Effect.map(
        runScript<{ perSecond: number }>("statementLoop.ts", { socket: database.socket, statement, seconds }),
        ({ perSecond }) => perSecond
      )
  }
}
