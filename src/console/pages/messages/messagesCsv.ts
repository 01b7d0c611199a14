import { type Effect, Stream } from "effect"
import type { MessageSummary } from "../../../messages/MessageSummary.ts"
import type { Position } from "../../../values/Page.ts"
import { csvFile } from "../../ui/table.ts"

/** The most rows of a file. */
const mostRows = 100_000

interface Row {
  readonly summary: MessageSummary
  readonly position: Position
}

/** A list of messages as a file. */
export const messagesCsv = (
  read: (limit: number, after: Position | null) => Effect.Effect<ReadonlyArray<Row>>
) => {
  const { lines, name } = csvFile<Row>("messages.csv", {
    columns: {
      id: ({ summary }) => summary.id,
      channel: ({ summary }) => summary.channel,
      direction: ({ summary }) => summary.direction,
      status: ({ summary }) => summary.status,
      from: ({ summary }) => summary.from ?? "",
      to: ({ summary }) => [summary.to].flat().join(" "),
      preview: ({ summary }) => summary.preview,
      tags: ({ summary }) => summary.tags.join(" "),
      batch_id: ({ summary }) => summary.batch_id ?? "",
      error: ({ summary }) => summary.error ?? "",
      created_at: ({ summary }) => summary.created_at
    },
    placeOf: ({ position }) => position,
    read
  })
  // The first line has the names.
  return { name, lines: Stream.take(lines, 1 + mostRows) }
}
