import { Effect } from "effect"
import * as QrCode from "qrcode"

/** The picture of a code as a data URL of a PNG. */
export const qrCode = (text: string): Effect.Effect<string> =>
  Effect.promise(() => QrCode.toDataURL(text, { errorCorrectionLevel: "M", margin: 2, scale: 5 }))
