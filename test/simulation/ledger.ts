/** What must be true of a run, whatever its faults were. */
import { Schema } from "effect"
import type { Receiver } from "./Receiver.ts"
import type { Session } from "./Sessions.ts"
import type { VirtualNode } from "./VirtualNode.ts"

const Row = Schema.Record(Schema.String, Schema.Unknown)
type Row = typeof Row.Type

const Change = Schema.Struct({
  /** In Unix milliseconds. */
  at: Schema.Finite,
  writer: Schema.String,
  relation: Schema.String,
  before: Schema.NullOr(Row),
  /** Null if the row was deleted. */
  after: Schema.NullOr(Row)
})
type Change = typeof Change.Type

/** A change of a claimed row. */
export interface ClaimedChange extends Pick<Change, "at" | "after"> {
  readonly before: Row
  /** Whether the writer has the shard, or has not learned yet that it has lost it. */
  readonly byOwner: boolean
}

/** How to read the rows of a queue. */
export interface QueueRows {
  readonly relation: string
  /** Selects all rows as JSON, also those that have ended. */
  readonly all: string
  readonly itemOf: (row: Row) => string
  /** The claim of the row, if it has one. */
  readonly claimOf: (row: Row) => unknown
  /** Whether a node that has not made the claim may make this change. */
  readonly mayReclaim: (change: ClaimedChange) => boolean
  /** Whether a row that waits may become this without a claim. */
  readonly mayEnd?: (after: Row | null, before: Row, isByLastClaimant: boolean) => boolean
  /** Whether a node that was frozen may make other nodes repeat what they have sent meanwhile. */
  readonly hasNoLease?: boolean
  readonly isFinal: (row: Row) => boolean
  /** The owner of the rows is the writer that raised the epoch in this table last. */
  readonly epochs?: {
    readonly relation: string
    /** Other tables whose rows only the owner changes. */
    readonly others: ReadonlyArray<string>
    /** Whether only the owner may make this change. */
    readonly isFenced: (change: Pick<Change, "relation" | "after">) => boolean
  }
  /** How long a node may begin items after a statement has found its claims unchanged, in milliseconds. */
  readonly leaseTime?: number
  /** Whether the final row says that the receiving side has the item. */
  readonly isSent: (row: Row) => boolean
}

/** Whether a row with a lease in `due_at` may be reclaimed, as `claimOf` counts reclaims. */
export const hasExpired = (leaseTimeout: number, count: string) => ({ after, at, before }: ClaimedChange): boolean =>
  at - Date.parse(String(before["due_at"])) >= leaseTimeout && Number(after?.[count]) > Number(before[count])

/** Every change of the rows. */
const changesIn = async (session: Session) =>
  Schema.decodeUnknownSync(Schema.Array(Change))(
    await session.rows([
      `select extract(epoch from at)::float8 * 1000 as at, writer, relation, before, after from simulation.history
        order by id`
    ])
  )

/** Every row of a queue. */
export const rowsIn = async (session: Session, { all }: QueueRows): Promise<ReadonlyArray<Row>> =>
  Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ row: Row })))(await session.rows([all])).map(({ row }) => row)

interface Evidence {
  /** Every start of a node. */
  readonly nodes: ReadonlyArray<VirtualNode>
  readonly receiver: Receiver
}

/**
 * Only the node that has claimed a row changes it, until it may be reclaimed. A row that waits is only claimed, and nothing
 * changes a row that has ended. The first claim is that of the writer that adds the row.
 */
const wrongWrites = (rows: QueueRows, changes: ReadonlyArray<Change>, { nodes }: Evidence): ReadonlyArray<string> => {
  const claimants = new Map<string, string>()
  return changes.flatMap(({ after, at, before, writer }) => {
    if (before === null) {
      if (after !== null) claimants.set(rows.itemOf(after), writer)
      return []
    }
    const item = rows.itemOf(before)
    if (rows.isFinal(before)) return [`${writer} changes ${item} after its end`]
    const claimant = claimants.get(item)
    const claim = rows.claimOf(before)
    if (after !== null && rows.claimOf(after) !== undefined && rows.claimOf(after) !== claim) {
      claimants.set(item, writer)
    }
    if (claim === undefined && rows.epochs === undefined) {
      const isClaim = after !== null && rows.claimOf(after) !== undefined
      return isClaim || rows.mayEnd?.(after, before, claimant === writer) === true
        ? []
        : [`${writer} changes ${item}, which waits`]
    }
    if (claim === undefined || claimant === undefined || claimant === writer) return []
    const byOwner = nodes.some(({ name, ownerships }) =>
      name === writer && ownerships.some(({ from, to }) => from <= at && at <= to)
    )
    return rows.mayReclaim({ at, before, after, byOwner })
      ? []
      : [`${writer} changes ${item}, which ${claimant} has claimed`]
  })
}

/** A change that has raised the epoch. */
const isRaise = ({ epochs }: QueueRows, { after, before, relation }: Change) =>
  relation === epochs?.relation && before !== null && Number(after?.["epoch"]) > Number(before["epoch"])

/** Only the owner of an epoch makes fenced changes. */
const wrongOwners = (rows: QueueRows, changes: ReadonlyArray<Change>): ReadonlyArray<string> => {
  const { epochs, itemOf, relation } = rows
  let owner: string | undefined
  return changes.flatMap((change) => {
    const { before, relation: changed, writer } = change
    if (epochs === undefined || owner === writer) return []
    if (isRaise(rows, change)) {
      owner = writer
      return []
    }
    // Accepting adds rows to the queue.
    const isAccepted = before === null && !epochs.others.includes(changed)
    if (isAccepted || !epochs.isFenced(change)) return []
    return [
      `${writer} changes ${before !== null && changed === relation ? itemOf(before) : changed}, which ${owner} owns`
    ]
  })
}

/** The epochs in the order in which they were raised. */
const raisesIn = (rows: QueueRows, changes: ReadonlyArray<Change>) =>
  changes.filter((change) => isRaise(rows, change)).map(({ after, at, writer }) => ({
    epoch: Number(after?.["epoch"]),
    at,
    writer
  }))

/** A node logs in by an epoch that it has raised as the owner, and only if none was raised before it began. */
const wrongLogins = (
  rows: QueueRows,
  changes: ReadonlyArray<Change>,
  { receiver: { logins } }: Evidence
): ReadonlyArray<string> => {
  const raises = raisesIn(rows, changes).map((raise, index, all) => ({ ...raise, owner: all[index - 1]?.writer }))
  return logins.flatMap(({ epoch, from, node: { name } }) => {
    const isOwner = raises.some((raise) => raise.epoch === epoch && raise.writer === name && raise.owner === name)
    const isLate = raises.some((raise) => raise.epoch > epoch && raise.at < from)
    return isOwner && !isLate ? [] : [`${name} logs in by epoch ${epoch}, which is not its own`]
  })
}

const isDisturbed = ({ disturbances }: VirtualNode, from: number, to: number) =>
  disturbances.some((time) => time.from <= to && time.to >= from)

/** Whether the node did not work at a time, and went on before its lease had ended. */
const isShortlyAway = ({ disturbances }: VirtualNode, at: number, leaseTime = 0) =>
  disturbances.some(({ from, to }) => from <= at && at <= to && to - from < leaseTime)

/**
 * Nothing begins by a claim after a later claim has begun, unless it needs no lease and its node was disturbed. Where claims
 * have no lease in the row, a node that was frozen may have made the later claim. A former owner may have gone on for a
 * moment, and have found its claims unchanged, right before the shard moved.
 */
const lateBegins = (
  { hasNoLease = false, leaseTime }: QueueRows,
  { nodes, receiver: { attempts } }: Evidence
): ReadonlyArray<string> =>
  attempts.flatMap(({ claim, from, hasLease, item, node }, index) => {
    const later = attempts.slice(0, index).find((earlier) => earlier.item === item && earlier.claim > claim)
    if (later === undefined || isShortlyAway(node, later.from, leaseTime)) return []
    const late = hasLease ? [] : hasNoLease ? nodes : [node]
    const isExcused = late.some((disturbed) => isDisturbed(disturbed, 0, from)) ||
      (hasNoLease && isDisturbed(later.node, 0, later.from))
    return isExcused ? [] : [`${node.name} sends ${item} by claim ${claim}, after a later claim`]
  })

/** Nothing begins by an epoch after the leases have ended that it had when a later one was raised. */
const expiredBegins = (
  rows: QueueRows,
  changes: ReadonlyArray<Change>,
  { receiver: { attempts } }: Evidence
): ReadonlyArray<string> => {
  const { epochs, leaseTime = 0 } = rows
  if (epochs === undefined) return []
  const raises = raisesIn(rows, changes)
  return attempts.filter(({ claim, from }) => raises.some(({ at, epoch }) => epoch > claim && from - at > leaseTime))
    .map(({ claim, item, node }) => `${node.name} sends ${item} by epoch ${claim}, which has expired`)
}

/**
 * An item is sent again after it was accepted only if its outcome may have been lost: a fault, or a missing answer. Where
 * claims have no lease in the row, a claim that ended during a fault may still send its item.
 */
const repetitions = (
  { hasNoLease = false }: QueueRows,
  { nodes, receiver: { attempts } }: Evidence
): ReadonlyArray<string> =>
  [...Map.groupBy(attempts, ({ item }) => item).values()].flatMap((all) =>
    all.flatMap((next, index) => {
      const accepted = all.slice(0, index).findLast(({ acceptedAt }) => acceptedAt !== undefined)
      if (accepted === undefined || accepted.verdict === "lost") return []
      const disturbed = hasNoLease ? nodes : [accepted.node]
      const since = hasNoLease ? Math.min(accepted.since, next.since) : accepted.since
      return disturbed.some((node) => isDisturbed(node, since, next.from))
        ? []
        : [`${next.node.name} sends ${next.item}, which ${accepted.node.name} has sent`]
    })
  )

/** Each item ends, and its end agrees with the receiving side. */
const wrongEnds = (rows: QueueRows, ends: ReadonlyArray<Row>, { receiver }: Evidence): ReadonlyArray<string> =>
  ends.flatMap((row) => {
    const item = rows.itemOf(row)
    if (!rows.isFinal(row)) return [`${item} has no outcome`]
    const accepted = receiver.attempts.filter((attempt) => attempt.item === item && attempt.acceptedAt !== undefined)
    if (rows.isSent(row)) return accepted.length > 0 ? [] : [`${item} counts as sent, and was never accepted`]
    return accepted.every((attempt) => attempt.verdict === "lost" || isDisturbed(attempt.node, attempt.since, Infinity))
      ? []
      : [`${item} counts as failed, and was accepted`]
  })

/** What was wrong in a run. */
export const judge = async (rows: QueueRows, session: Session, evidence: Evidence): Promise<ReadonlyArray<string>> => {
  const changes = await changesIn(session)
  return [
    ...wrongWrites(rows, changes.filter(({ relation }) => relation === rows.relation), evidence),
    ...wrongOwners(rows, changes),
    ...wrongLogins(rows, changes, evidence),
    ...lateBegins(rows, evidence),
    ...expiredBegins(rows, changes, evidence),
    ...repetitions(rows, evidence),
    ...wrongEnds(rows, await rowsIn(session, rows), evidence)
  ]
}
