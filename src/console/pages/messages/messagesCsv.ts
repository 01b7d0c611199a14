import { Effect, Option, Stream } from "effect"
import type { MessageSummary } from "../../../messages/MessageSummary.ts"
import type { Position } from "../../../values/Page.ts"
import { csvLine } from "../../ui/table.ts"

/** The most rows of a file, and how many of them one statement reads. */
const mostRows = 100_000
const portion = 1000

const csvNames = [
  "id",
  "channel",
  "direction",
  "status",
  "from",
  "to",
  "preview",
  "tags",
  "batch_id",
  "error",
  "created_at"
]

const lineOf = ({ to, ...message }: MessageSummary) =>
  csvLine([
    message.id,
    message.channel,
    message.direction,
    message.status,
    message.from ?? "",
    [to].flat().join(" "),
    message.preview,
    message.tags.join(" "),
    message.batch_id ?? "",
    message.error ?? "",
    message.created_at
  ])

/** A list of messages as a file. Each portion is read when the reader has taken the one before. */
export const messagesCsv = (
  read: (
    limit: number,
    after: Position | null
  ) => Effect.Effect<ReadonlyArray<{ readonly summary: MessageSummary; readonly position: Position }>>
) => ({
  name: "messages.csv",
  lines: Stream.concat(
    Stream.succeed(csvLine(csvNames)),
    Stream.paginate(null as Position | null, (after) =>
      Effect.map(read(portion, after), (rows) => {
        const last = rows.length < portion ? undefined : rows.at(-1)
        return [
          rows.map(({ summary }) => lineOf(summary)),
          last === undefined ? Option.none<Position>() : Option.some(last.position)
        ] as const
      })).pipe(Stream.take(mostRows))
  )
})
