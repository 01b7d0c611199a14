import * as NodeProcess from "node:process"

/** Rounds of each fault: 1 in every run of the tests, 20 by `npm run faults`. */
export const rounds = Number(NodeProcess.env["FAULT_ROUNDS"] ?? 1)

/**
 * The most that something may take, given what it takes at most on a machine of its own: `npm run faults` wants just that.
 * In a run of all tests four files share the cores with each other and with whatever else runs, so there the limit tells
 * what hangs from what does not.
 */
export const inTime = (most: number): number => rounds > 1 ? most : 4 * most
