import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"

/** Sending domains with their keys. */
export const emailDomainsErasure: ErasureStep = { name: "sending domains", some: eraseRows("email_domains") }
