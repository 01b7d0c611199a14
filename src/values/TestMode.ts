import { Schema } from "effect"
import { AccountId } from "./Ids.ts"

/** Where the messages of a key go: to their recipients, or to the sandbox. */
export const Mode = Schema.Literals(["live", "test"]).annotate({
  description: "test: of a test key, whose messages go to the sandbox"
})
export type Mode = typeof Mode.Type

/** The rows of test keys belong to a shadow account, whose id is that of its owner's account with a minus. */
export const isTest = (accountId: number): boolean => accountId < 0

export const modeOf = (accountId: number): Mode => isTest(accountId) ? "test" : "live"

/** The account that has the profile and the password. */
export const ownerOf = (accountId: AccountId): AccountId => AccountId.make(Math.abs(accountId))

/** The account whose rows are those of the owner's test keys. */
export const shadowOf = (accountId: AccountId): AccountId => AccountId.make(-Math.abs(accountId))

/**
 * The first of the two lanes in which a queue stores the rows of a mode. Those of test accounts are above the live ones, so
 * that the statements of a worker see one mode only.
 */
export const firstLane: Readonly<Record<Mode, number>> = {
  live: 0,
  test: 2
}

/** The stored lane of a row. */
export const storedLane = (accountId: number, lane: number): number => firstLane[modeOf(accountId)] + lane

/** The SQL of a row's mode. `table` is the alias of the table, with a dot. */
export const modeColumn = (table = "") => `case when ${table}account_id < 0 then 'test' else 'live' end as mode`
