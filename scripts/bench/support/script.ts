import { Effect, type Scope } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodePath from "node:path"
import * as NodeReadline from "node:readline"

/** Every process that a bench started ends with it. */
export const spawn = (
  args: ReadonlyArray<string>,
  options: {
    readonly env?: NodeJS.ProcessEnv
    readonly cwd?: string
    readonly stdio: NodeChildProcess.StdioOptions
  }
): Effect.Effect<NodeChildProcess.ChildProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => NodeChildProcess.spawn(process.execPath, args, options)),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )

/** The first line for which `find` returns a value. A stream without such a line is a defect. */
export const awaitLine = <A>(stream: NodeJS.ReadableStream, find: (line: string) => A | undefined): Effect.Effect<A> =>
  Effect.callback((resume) => {
    const lines = NodeReadline.createInterface(stream)
    const seen: Array<string> = []
    lines.on("line", (line) => {
      const found = find(line)
      if (found !== undefined) resume(Effect.succeed(found))
      else if (seen.length < 50) seen.push(line)
    })
    lines.once("close", () => resume(Effect.die(`the process ended and had said:\n${seen.join("\n")}`)))
  })

/**
 * Runs a script of this folder as a process, with its input as JSON in the only argument. Returns its first line: the
 * address of a server, or the result of a measurement. The caller names the line's type.
 */
export const runScript = Effect.fnUntraced(function*<A>(
  name: string,
  input: unknown,
  options: { readonly env?: NodeJS.ProcessEnv; readonly nodeOptions?: ReadonlyArray<string> } = {}
) {
  const child = yield* spawn(
    [...options.nodeOptions ?? [], NodePath.join(import.meta.dirname, name), JSON.stringify(input)],
    { stdio: ["ignore", "pipe", "inherit"], env: options.env ?? process.env }
  )
  if (child.stdout === null) return yield* Effect.die("no standard output")
  const said: A = yield* awaitLine(child.stdout, (line) => line.startsWith("{") ? JSON.parse(line) : undefined)
  return said
})

/** The input of a script. */
export const inputOf = <A>(): A => JSON.parse(process.argv[2] ?? "null")
