import { assert, describe, it } from "@effect/vitest"
import { batchTurns } from "../../../../src/channels/email/bulk/batchTurns.ts"
import { AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"

const id = (name: string) => EmailBatchId.make(`email_batch_${name.padStart(26, "0")}`)
const active = (name: string, account: number, since: number) => ({
  id: id(name),
  account: AccountId.make(account),
  since
})
const waits = (name: string, account: number) => ({ id: id(name), account_id: AccountId.make(account) })
const served = (...times: ReadonlyArray<readonly [account: number, at: number]>) =>
  new Map(times.map(([account, at]) => [AccountId.make(account), at]))

describe("batchTurns", () => {
  it("wakes batches of accounts in turn, those with the fewest active ones first", () => {
    const turns = batchTurns({
      active: [active("A", 1, 0)],
      waiting: [waits("B", 1), waits("C", 1), waits("D", 2), waits("E", 2), waits("F", 3)],
      servedAt: served([2, 20], [3, 10]),
      room: 4,
      now: 100
    })
    assert.deepStrictEqual(turns, { wake: [id("F"), id("D"), id("B"), id("E")], stop: undefined })
  })

  it("stops a batch of the account that has most after two seconds, if another account has none", () => {
    const all = [active("A", 1, 10), active("B", 1, 20), active("C", 2, 0)]
    const turns = (now: number, account: number) =>
      batchTurns({ active: all, waiting: [waits("D", account)], servedAt: served(), room: 0, now })
    assert.deepStrictEqual(turns(2_010, 3), { wake: [], stop: id("A") })
    assert.deepStrictEqual(turns(2_009, 3), { wake: [], stop: undefined })
    assert.deepStrictEqual(turns(60_000, 2), { wake: [], stop: undefined }, "it has a place")
  })

  it("lets more accounts than there are places take turns of ten seconds", () => {
    const all = [active("A", 1, 0), active("B", 2, 5)]
    const turns = (now: number) =>
      batchTurns({ active: all, waiting: [waits("C", 3)], servedAt: served(), room: 0, now }).stop
    assert.strictEqual(turns(9_999), undefined)
    assert.strictEqual(turns(10_000), id("A"))
    const next = batchTurns({
      active: [active("B", 2, 5)],
      waiting: [waits("A", 1), waits("C", 3)],
      servedAt: served([1, 0.5], [2, 5]),
      room: 1,
      now: 10_001
    })
    assert.deepStrictEqual(next.wake, [id("C")])
  })
})
