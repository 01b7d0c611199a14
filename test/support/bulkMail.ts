import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { dkimVerify } from "mailauth/lib/dkim/verify.js"
import * as NodeCrypto from "node:crypto"
import PostalMime from "postal-mime"
import { sealedDkimKey } from "../../src/email-domains/EmailDomains.ts"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { type Answer, eventually, type RunningNode } from "./Service.ts"
import { longer } from "./waiting.ts"

/** The main key of test nodes, as bytes; see `defaults` in Service.ts. */
export const mainKey = Redacted.make(
  new Uint8Array(Buffer.from("dGVzdHMgb25seTogdGhpcyBrZXkgc2VhbHMgbm90aCE=", "base64"))
)

const pair = NodeCrypto.generateKeyPairSync("rsa", {
  modulusLength: 2_048,
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" }
})

/** A DKIM key pair: the private key as PEM, the public key as a DNS record. */
export const dkimKey = {
  pem: pair.privateKey,
  published: `k=rsa;t=s;p=${pair.publicKey.replaceAll(/-----[^-]+-----|\s/g, "")}`
}

/** Inserts a verified domain; `key` is a PEM, which is sealed, or bytes stored as they are. */
export const insertDomain = Effect.fnUntraced(function*(
  accountId: AccountId,
  domain: string,
  { key, status = "verified" }: { readonly key?: string | Uint8Array; readonly status?: string } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const sealed = typeof key === "string" ? vault.seal(sealedDkimKey(accountId, domain), Buffer.from(key)) : key ?? null
  yield* sql`insert into email_domains (account_id, domain, status, dkim_private_key)
    values (${accountId}, ${domain}, ${status}, ${sealed})`
}, Effect.provide(Vault.layer(mainKey)))

/** An independent verifier's result for a message's first signature, with this DNS record. */
export const dkimVerdict = (raw: Buffer, published = dkimKey.published) =>
  Effect.promise(async () => {
    const resolver = () => Promise.resolve([[published.slice(0, 255), published.slice(255)]])
    const { results } = await dkimVerify(raw, { resolver })
    return { result: results[0]?.status.result, domain: results[0]?.signingDomain }
  })

/** A parsed message with its header fields. */
export const readMail = (raw: Buffer) =>
  Effect.promise(async () => {
    const mail = await PostalMime.parse(raw)
    const field = (name: string) => mail.headers.filter(({ key }) => key === name).map(({ value }) => value)
    return { mail, field }
  })

/** Repeats a request until the answer is as expected; allows for a batch, a retry or a sweeper. */
export const asking = <E, R>(ask: Effect.Effect<Answer, E, R>, isExpected: (answer: Answer) => boolean) =>
  eventually(ask, isExpected, longer.takeover)

/** Posts a bulk email and returns the batch's id. */
export const sendBulk = Effect.fnUntraced(function*(node: RunningNode, key: string, json: unknown) {
  const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
  if (answer.status !== 202) return yield* Effect.die(new Error(`send-bulk answered ${answer.status}: ${answer.text}`))
  return String(answer.at("data", "batch_id"))
})

/** The batch once it has ended. */
export const ended = (node: RunningNode, key: string, id: string) =>
  asking(
    node.request("GET", `/v1/email/batches/${id}`, { key }),
    ({ at }) => typeof at("data", "completed_at") === "string"
  )
