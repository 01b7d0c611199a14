import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import * as NodePath from "node:path"
import { spawn } from "./script.ts"

/** The hello has number 0, and an answer the number of its question. */
interface Said<A> {
  readonly id: number
  readonly content: A
}

/** Runs `say`, and waits for the message with a number. */
const hear = <A>(child: ChildProcess, id: number, say: () => void) =>
  Effect.callback<A>((resume) => {
    const ended = () => resume(Effect.die("a process ended that was asked something"))
    const take = (message: unknown) => {
      // `answerQuestions` sends this message. The callers on both sides agree on its type.
      const said = message as Said<A>
      if (said.id !== id) return
      child.off("exit", ended).off("message", take)
      resume(Effect.succeed(said.content))
    }
    child.once("exit", ended).on("message", take)
    say()
  })

/** Asks a process that answers questions. The caller names the types. */
export const questionsTo = <Question, Answer>(child: ChildProcess) => {
  let asked = 0
  return (question: Question) =>
    Effect.suspend(() => {
      const id = ++asked
      return hear<Answer>(child, id, () => child.send({ id, content: question } satisfies Said<Question>))
    })
}

/**
 * Starts a script of this folder, or of an absolute path, as a process that answers questions until the scope closes,
 * so that all compared processes stay warm and take turns. Returns its hello, its process id, and a function that asks
 * it. The caller names the types.
 */
export const startPeer = Effect.fnUntraced(function*<Hello, Question, Answer>(
  name: string,
  input: unknown,
  options: { readonly env?: NodeJS.ProcessEnv; readonly nodeOptions?: ReadonlyArray<string> } = {}
) {
  const child = yield* spawn(
    [...options.nodeOptions ?? [], NodePath.resolve(import.meta.dirname, name), JSON.stringify(input)],
    { stdio: ["ignore", "inherit", "inherit", "ipc"], env: options.env ?? process.env }
  )
  const ask = questionsTo<Question, Answer>(child)
  return { hello: yield* hear<Hello>(child, 0, () => {}), ask, pid: child.pid ?? 0 }
})

/** The process side: says hello, then answers questions until its parent disconnects. */
export const answerQuestions = <Question>(hello: object, answer: (question: Question) => Promise<object>): void => {
  process.on("message", async (message) => {
    const { content, id } = message as Said<Question>
    process.send?.({ id, content: await answer(content) })
  })
  process.on("disconnect", () => process.exit())
  process.send?.({ id: 0, content: hello })
}
