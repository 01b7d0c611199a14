import { Effect } from "effect"
import * as NodeCrypto from "node:crypto"

/** A name for a message at WhatsApp that nobody has had, in the form of WhatsApp's own clients on the web. */
export const newMessageId = Effect.sync(() => `3EB0${NodeCrypto.randomBytes(9).toString("hex").toUpperCase()}`)
