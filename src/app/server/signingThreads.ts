import { availableParallelism } from "node:os"

/**
 * The number of libuv threads (`UV_THREADPOOL_SIZE`), which sign mail. More threads than processors only take turns;
 * fewer leave processors idle. At least two, because DNS lookups that time out can block half of them.
 */
export const signingThreads = Math.max(2, availableParallelism())
