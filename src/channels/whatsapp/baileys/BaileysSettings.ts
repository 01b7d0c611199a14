import type { SocketConfig } from "@whiskeysockets/baileys"

/** Status posts and newsletters are nobody's messages, and many. */
const isNoise = (jid: string) => jid === "status@broadcast" || jid.endsWith("@newsletter")

/** What the library is told beside credentials, address and ports. */
export const standing = {
  // It would be the patience with each frame that goes out as well; a connection has its own for the server's first word.
  connectTimeoutMs: 0,
  emitOwnEvents: false,
  // A device that is online takes the phone's notifications away.
  markOnlineOnConnect: false,
  syncFullHistory: false,
  generateHighQualityLinkPreview: false,
  // It sleeps this long within the queue of all messages, for each one that it cannot decrypt.
  retryRequestDelayMs: 20,
  // A failed commit ends the connection; the library would hold the queue of all messages for half a minute.
  transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
  shouldIgnoreJid: isNoise
} satisfies Partial<SocketConfig>
