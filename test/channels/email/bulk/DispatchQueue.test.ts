import { assert, describe, it } from "@effect/vitest"
import { DispatchQueue } from "../../../../src/channels/email/bulk/DispatchQueue.ts"
import { AccountId, EmailBatchId } from "../../../../src/values/Ids.ts"

const batch = (name: string) => EmailBatchId.make(`email_batch_${name.padStart(26, "0")}`)

const items = (account: number, name: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    account: AccountId.make(account),
    batch: batch(name),
    name: `${name}${index}`
  }))

type Item = ReturnType<typeof items>[number]

const makeQueue = () => new DispatchQueue<Item>({ total: 10, perAccount: 6, busyMillis: 500, maxMillis: 2_000 })

const names = (taken: ReadonlyArray<Item>) => taken.map(({ name }) => name)

describe("DispatchQueue", () => {
  it("lets accounts take turns, and keeps the order of each", () => {
    const queue = makeQueue()
    queue.add(items(1, "A", 3), 0)
    queue.add(items(2, "B", 2), 0)
    assert.deepStrictEqual(names(queue.take(4, 0)), ["A0", "B0", "A1", "B1"])
    assert.deepStrictEqual(names(queue.take(4, 0)), ["A2"])
    assert.strictEqual(queue.size, 0)
  })

  it("has room within its limit and that of an account, while it is not behind", () => {
    const queue = makeQueue()
    const one = AccountId.make(1)
    const two = AccountId.make(2)
    assert.isTrue(queue.hasRoom(one, 6, 0))
    assert.isFalse(queue.hasRoom(one, 7, 0))
    queue.add(items(1, "A", 5), 0)
    assert.isTrue(queue.hasRoom(one, 1, 0))
    assert.isFalse(queue.hasRoom(one, 2, 0))
    assert.isTrue(queue.hasRoom(two, 5, 500))
    assert.isFalse(queue.hasRoom(two, 6, 500))
    assert.isFalse(queue.hasRoom(two, 1, 501), "the oldest has waited for too long")
    queue.take(5, 501)
    assert.isTrue(queue.hasRoom(one, 6, 501))
  })

  it("never hands out what has waited for too long, and returns it for its release", () => {
    const queue = makeQueue()
    queue.add(items(1, "A", 2), 0)
    queue.add(items(1, "B", 1), 1_000)
    queue.add(items(2, "C", 1), 0)
    assert.deepStrictEqual(names(queue.take(1, 2_001)), ["B0"])
    assert.sameMembers(names(queue.takeLate(2_001)), ["A0", "A1", "C0"])
    assert.deepStrictEqual(names(queue.takeLate(2_001)), [])
    assert.strictEqual(queue.size, 0)
  })

  it("recovers once, when three quarters are empty, from a time without room", () => {
    const queue = makeQueue()
    queue.add(items(1, "A", 6), 0)
    assert.isFalse(queue.recovers())
    queue.noteBehind()
    queue.take(3, 0)
    assert.isFalse(queue.recovers())
    queue.take(1, 0)
    assert.deepStrictEqual([queue.recovers(), queue.recovers()], [true, false])
  })

  it("takes the items of one batch, and then all", () => {
    const queue = makeQueue()
    queue.add(items(1, "A", 2), 0)
    queue.add(items(1, "B", 2), 0)
    queue.take(1, 0)
    assert.deepStrictEqual(names(queue.takeBatch(batch("A"))), ["A1"])
    assert.deepStrictEqual(names(queue.takeBatch(batch("A"))), [])
    assert.deepStrictEqual(names(queue.takeAll()), ["B0", "B1"])
    assert.isTrue(queue.hasRoom(AccountId.make(1), 6, 0))
  })
})
