import * as NodeProcess from "node:process"

/** Rounds of each fault: 1 in a normal test run, 20 by `npm run faults`. */
export const rounds = Number(NodeProcess.env["FAULT_ROUNDS"] ?? 1)

/**
 * A time limit for the current machine: exact in `npm run faults`, and twice as long in a normal run, whose machine may be
 * slower. Files that call it run alone (vitest.config.ts).
 */
export const inTime = (most: number): number => rounds > 1 ? most : 2 * most
