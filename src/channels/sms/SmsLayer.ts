import { Layer } from "effect"
import { PartStatusUpdates } from "./parts/PartStatusUpdates.ts"
import { ReceiptMatching } from "./parts/ReceiptMatching.ts"
import { PhoneHttp } from "./PhoneHttp.ts"
import { SmsHttp } from "./SmsHttp.ts"
import { SmsMessages } from "./SmsMessages.ts"

/** The SMS channel with its endpoints, for codes as well; it asks for `SmsOutlet`, which an upstream gives. */
export const SmsLayer = Layer.mergeAll(PhoneHttp, SmsHttp.pipe(Layer.provideMerge(SmsMessages.layer)), ReceiptMatching)

/** What is written down of messages and receipts, for the upstream and for the channel. */
export const SmsNews = PartStatusUpdates.layer
