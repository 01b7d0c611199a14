import { availableParallelism } from "node:os"

/**
 * How many threads libuv's pool has, on which mail is signed (`UV_THREADPOOL_SIZE`): more than there are processors
 * only take turns, fewer leave some idle. Two at least, as half of them may be busy with names that nobody answers for.
 */
export const signingThreads = Math.max(2, availableParallelism())
