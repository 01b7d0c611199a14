import { Effect } from "effect"
import type { ChildProcess } from "node:child_process"
import * as NodePath from "node:path"
import { spawn } from "./script.ts"

/** The hello has the number 0, an answer that of its question. */
interface Said<A> {
  readonly id: number
  readonly content: A
}

/** Waits for what a process says under a number, once `say` has made it speak. */
const hear = <A>(child: ChildProcess, id: number, say: () => void) =>
  Effect.callback<A>((resume) => {
    const ended = () => resume(Effect.die("a process ended that was asked something"))
    const take = (message: unknown) => {
      // What the other side below sends; it answers what its caller says it does.
      const said = message as Said<A>
      if (said.id !== id) return
      child.off("exit", ended).off("message", take)
      resume(Effect.succeed(said.content))
    }
    child.once("exit", ended).on("message", take)
    say()
  })

/** How to ask a process that answers questions. Its caller names the types. */
export const questionsTo = <Question, Answer>(child: ChildProcess) => {
  let asked = 0
  return (question: Question) =>
    Effect.suspend(() => {
      const id = ++asked
      return hear<Answer>(child, id, () => child.send({ id, content: question } satisfies Said<Question>))
    })
}

/**
 * Starts a script of this folder as a process that answers questions for as long as the scope lives,
 * so that everything that is compared can be warm and take its turn. Gives what it said first, and how to ask it. Its
 * caller names the types.
 */
export const startPeer = Effect.fnUntraced(function*<Hello, Question, Answer>(
  name: string,
  input: unknown,
  options: { readonly env?: NodeJS.ProcessEnv; readonly nodeOptions?: ReadonlyArray<string> } = {}
) {
  const child = yield* spawn(
    [...options.nodeOptions ?? [], NodePath.join(import.meta.dirname, name), JSON.stringify(input)],
    { stdio: ["ignore", "inherit", "inherit", "ipc"], env: options.env ?? process.env }
  )
  const ask = questionsTo<Question, Answer>(child)
  return { hello: yield* hear<Hello>(child, 0, () => {}), ask }
})

/** The other side: says hello, then answers every question until whoever asks is gone. */
export const answerQuestions = <Question>(hello: object, answer: (question: Question) => Promise<object>): void => {
  process.on("message", async (message) => {
    const { content, id } = message as Said<Question>
    process.send?.({ id, content: await answer(content) })
  })
  process.on("disconnect", () => process.exit())
  process.send?.({ id: 0, content: hello })
}
