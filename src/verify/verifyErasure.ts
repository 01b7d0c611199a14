import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"

/** Verifications with what was sent for them, and blocked prefixes. */
export const verifyErasure: ErasureStep = { name: "verify", some: eraseRows("verifications", "verification_blocks") }
