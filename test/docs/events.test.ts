import { assert, describe, it } from "@effect/vitest"
import * as EventsFile from "../../scripts/events.ts"
import { exampleOf } from "../../src/events/EventData.ts"
import { eventAliases, eventNames } from "../../src/events/EventNames.ts"
import { knownPatterns } from "../../src/events/EventPattern.ts"
import { blocks, read } from "./documents.ts"

describe("docs/events.md", () => {
  it("the page matches the catalogue (else run: node scripts/events.ts)", () => {
    assert.strictEqual(read("docs/events.md"), EventsFile.text)
  })

  it("the page has every event in the catalogue's order, and every pattern and alias", () => {
    const headings = [...EventsFile.text.matchAll(/^### (.*)$/gm)].map(([, name]) => name)
    assert.deepStrictEqual(headings, [...eventNames])
    for (const name of knownPatterns) assert.include(EventsFile.text, `\`${name}\``)
  })

  it("the table above each example names exactly its fields", () => {
    const parts = EventsFile.text.split("\n| Field of `data`").slice(1)
    const topics = blocks(EventsFile.text, "json").map((block): unknown => JSON.parse(block))
    assert.strictEqual(parts.length, topics.length)
    for (const [index, part] of parts.entries()) {
      const named = [...part.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
      assert.sameMembers(named, Object.keys(Object(Reflect.get(Object(topics[index]), "data"))))
    }
  })

  it("the page has the example of every alias's channel", () => {
    const bodies = blocks(EventsFile.text, "json").map((block) => Reflect.get(JSON.parse(block), "data"))
    for (const topic of eventAliases.values()) assert.deepInclude(bodies, exampleOf(topic))
  })
})
