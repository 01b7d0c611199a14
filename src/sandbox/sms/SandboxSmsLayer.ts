import { Layer } from "effect"
import { SandboxSmsHttp } from "./SandboxSmsHttp.ts"
import { SandboxSmsProvider, SandboxSmsReceipts } from "./SandboxSmsProvider.ts"

/** The SMS part of the sandbox: a carrier that takes every text, its receipts, and the page of its phones. */
export const SandboxSmsLayer = Layer.mergeAll(SandboxSmsHttp, SandboxSmsReceipts).pipe(
  Layer.provideMerge(SandboxSmsProvider)
)
