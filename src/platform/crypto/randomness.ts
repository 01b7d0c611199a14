import { randomFillSync } from "node:crypto"

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * A few random bytes out of a pool that is filled 4 KiB at a time: asking the system for each id anew costs more than
 * the id. The bytes are handed out once; ids are no secrets, so that they pass through shared memory does no harm.
 */
export const fewRandomBytes = (count: number): Buffer => {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += count
  return Buffer.from(pool.subarray(used - count, used))
}
