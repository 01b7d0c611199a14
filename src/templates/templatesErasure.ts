import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"

/** Stored templates. */
export const templatesErasure: ErasureStep = { name: "templates", some: eraseRows("email_templates") }
