import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeProcess from "node:process"
import { read } from "../docs/documents.ts"
import { Changes } from "./Changes.ts"
import { programAt } from "./programs.ts"
import type { RunningNode } from "./Service.ts"
import { longer } from "./waiting.ts"

/** The languages of the requests, in the order of a guide. */
export const languages = ["sh", "js", "python"] as const
export type Language = (typeof languages)[number]

const programs: Readonly<Record<Language, readonly [program: string, ...args: ReadonlyArray<string>]>> = {
  sh: ["sh", "-e"],
  js: [NodeProcess.execPath, "--input-type=module"],
  python: ["python3"]
}

const required: Readonly<Record<Language, ReadonlyArray<string>>> = {
  sh: ["curl", "openssl"],
  js: [],
  python: ["python3"]
}

/** Whether a language's programs are installed. */
export const isInstalled = (language: Language): boolean =>
  required[language].every((name) => programAt(name) !== undefined)

/** A fenced block of a guide. */
export interface Fence {
  readonly language: string
  /** The word after the language: `receiver` is a program that stays up, `event` is what it receives. */
  readonly kind: string | undefined
  readonly text: string
}

/** The fenced blocks of a page, in order. */
export const fences = (guide: string): ReadonlyArray<Fence> =>
  [...read(guide).matchAll(/^```(\w+)(?: (\w+))?\n(.*?)^```$/gms)].map(([, language = "", kind, text = ""]) => ({
    language,
    kind,
    text
  }))

/** Whether a block is code that readers run. */
export const isCode = ({ language }: Fence) => languages.some((each) => each === language)

interface Step {
  readonly code: Readonly<Record<Language, string>>
  /** The JSON that the guide shows below the code. */
  readonly shown: unknown
}

/** JSON in which `…` stands for more fields or elements, or for any text within a string. */
export const parseShown = (text: string): unknown => JSON.parse(text.replaceAll(/,\s*…\s*(?=[}\]])/g, ""))

/** The requests of a guide, each in three languages, with the answer below them. */
const stepsOf = (guide: string): ReadonlyArray<Step> => {
  const all = fences(guide).filter(({ kind }) => kind === undefined)
  return all.flatMap((fence, index) => {
    if (fence.language !== "sh") return []
    const [sh, js, python] = all.slice(index, index + 3).map(({ text }) => text)
    const next = all[index + 3]
    const shown = next?.language === "json" ? parseShown(next.text) : undefined
    return [{ code: { sh: sh ?? "", js: js ?? "", python: python ?? "" }, shown }]
  })
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const pattern = (shown: string) =>
  new RegExp(`^${shown.split("…").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`, "s")

/** What is shown, with each part replaced by the actual one where they differ. Numbers of rows may differ. */
const corrected = (shown: unknown, actual: unknown, name = ""): unknown => {
  if (typeof shown === "string" && typeof actual === "string") return pattern(shown).test(actual) ? shown : actual
  if (typeof shown === "number" && typeof actual === "number") return /(^|_)id$/.test(name) ? shown : actual
  if (Array.isArray(shown) && Array.isArray(actual)) {
    return shown.map((part, index) => corrected(part, actual[index], name))
  }
  if (isPlain(shown) && isPlain(actual)) {
    return Object.fromEntries(Object.entries(shown).map(([key, part]) => [key, corrected(part, actual[key], key)]))
  }
  return actual
}

/** Compares an answer with the one that a guide shows. */
export const assertShown = (shown: unknown, actual: unknown) =>
  assert.deepStrictEqual(corrected(shown, actual), shown, JSON.stringify(actual))

interface Program {
  readonly language: Language
  readonly code: string
  readonly env: Readonly<Record<string, string>>
  readonly folder?: string
}

/** Starts a program of a guide. */
export const spawn = ({ code, env, folder, language }: Program) => {
  const [program, ...args] = programs[language]
  const { HOME, PATH } = NodeProcess.env
  const child = NodeChildProcess.spawn(program, args, { env: { PATH, HOME, ...env }, cwd: folder })
  const output = { stdout: "", stderr: "", code: undefined as number | null | undefined }
  const changes = new Changes(() => output)
  child.stdout.on("data", (chunk: Buffer) => {
    output.stdout += chunk.toString()
    changes.notify()
  })
  child.stderr.on("data", (chunk: Buffer) => void (output.stderr += chunk.toString()))
  child.on("close", (status) => {
    output.code = status
    changes.notify()
  })
  child.stdin.end(code)
  return { child, changes, output }
}

/** Runs a program to its end. */
export const run = (program: Program) =>
  Effect.suspend(() => {
    const { changes, output } = spawn(program)
    return Effect.as(changes.until(() => output.code !== undefined, longer.start), output)
  })

/** A reader of a guide, who runs its requests in one language and order. */
export class Reader {
  readonly node: RunningNode
  readonly key: string
  readonly language: Language
  readonly steps: Array<Step>

  constructor(node: RunningNode, key: string, language: Language, guide: string) {
    this.node = node
    this.key = key
    this.language = language
    this.steps = [...stepsOf(`docs/guides/${guide}.md`)]
  }

  /** Runs the next request and compares its answer with the one that the guide shows. */
  next(env: Readonly<Record<string, string>> = {}) {
    return Effect.gen({ self: this }, function*() {
      const step = this.steps.shift()
      assert.isDefined(step)
      const { stderr, stdout } = yield* run({
        language: this.language,
        code: step.code[this.language],
        env: { ...env, MESSAGING_URL: this.node.baseUrl, MESSAGING_API_KEY: this.key }
      })
      assert.notStrictEqual(stdout, "", stderr)
      const answer: unknown = JSON.parse(stdout)
      assertShown(step.shown, answer)
      return answer
    })
  }
}

/** The value under these names, as text. */
export const at = (json: unknown, ...path: ReadonlyArray<string>) =>
  String(path.reduce<unknown>((value, name) => Object(value)[name], json))
