import { Layer } from "effect"
import { ReceiptMatching } from "./parts/PartStatusUpdates.ts"
import { PhoneHttp } from "./PhoneHttp.ts"
import { SmsHttp } from "./SmsHttp.ts"
import { SmsMessages } from "./SmsMessages.ts"

/** The SMS channel with its endpoints. It needs a provider's `SmsOutlet`. */
export const SmsLayer = Layer.mergeAll(PhoneHttp, SmsHttp.pipe(Layer.provideMerge(SmsMessages.layer)), ReceiptMatching)
