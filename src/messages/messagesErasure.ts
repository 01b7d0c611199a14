import { eraseRows, type ErasureStep } from "../accounts/Erasure.ts"

/** Messages of WhatsApp and SMS with their parts, and their batches. */
export const messagesErasure: ErasureStep = { name: "messages", some: eraseRows("messages", "message_batches") }
