import { Effect, Option } from "effect"
import { readGuides } from "../guides/GuidesHttp.ts"

/** A guide as programs list it. */
export interface ListedGuide {
  readonly name: string
  readonly title: string
  readonly line: string
  readonly text: string
}

const scheme = "messaging://guides/"

/** Every guide of the index with its file. */
export const listedGuides = Effect.map(readGuides, (guides): ReadonlyArray<ListedGuide> => {
  const texts = new Map(guides.map(({ name, text }) => [name, text]))
  return [...(texts.get("README") ?? "").matchAll(/^- \[(.*?)\]\((.*?)\.md\): (.*)$/gm)].flatMap(
    ([, title = "", name = "", line = ""]) => {
      const text = texts.get(name)
      return text === undefined ? [] : [{ name, title, line, text }]
    }
  )
})

const resourceOf = ({ name, text }: ListedGuide) => ({ uri: `${scheme}${name}`, mimeType: "text/markdown", text })

/** The guides as resources. */
export const resources = (guides: ReadonlyArray<ListedGuide>) =>
  guides.map(({ line, name, title }) => ({
    uri: `${scheme}${name}`,
    name,
    title,
    description: line,
    mimeType: "text/markdown"
  }))

/** A guide by its resource's address. */
export const readResource = (guides: ReadonlyArray<ListedGuide>, uri: unknown) =>
  Option.map(
    Option.fromUndefinedOr(guides.find(({ name }) => `${scheme}${name}` === uri)),
    (guide) => ({ contents: [resourceOf(guide)] })
  )

/** The guides as prompts. Each takes what the person wants. */
export const prompts = (guides: ReadonlyArray<ListedGuide>) =>
  guides.map(({ line, name, title }) => ({
    name,
    title,
    description: line,
    arguments: [{ name: "goal", description: "What you want to reach, in your words", required: false }]
  }))

/** The messages of a prompt: the task, and the guide to follow. */
export const promptOf = (guides: ReadonlyArray<ListedGuide>, name: unknown, goal: unknown) =>
  Option.map(Option.fromUndefinedOr(guides.find((guide) => guide.name === name)), (guide) => {
    const task =
      `Help me with this task: ${guide.title}. Follow the guide, and use the tools of this server where one fits. `
      + "Ask me before you call a tool that sends or deletes."
    const wish = typeof goal === "string" && goal !== "" ? ` What I want: ${goal}` : ""
    return {
      description: guide.line,
      messages: [
        { role: "user", content: { type: "text", text: `${task}${wish}` } },
        { role: "user", content: { type: "resource", resource: resourceOf(guide) } }
      ]
    }
  })
