/**
 * The same endpoints, hand-written with Fastify and postgres.js. Each request looks up the key by its hash, reads or
 * inserts rows and answers the same JSON. Under `/counted` each request is also counted in a row per key and minute, as an
 * exact limit across nodes requires. The price list is read once, and every request gets its bytes. Every answer has the
 * headers that ours have: a request id, and those that protect browsers.
 */
import Fastify, { type FastifyRequest } from "fastify"
import { createHash, randomUUID } from "node:crypto"
import postgres from "postgres"
import { inputOf } from "./script.ts"

const { socket } = inputOf<{ readonly socket: string }>()
const sql = postgres({ path: socket, username: "postgres", database: "postgres", max: 10 })

const refused = Object.assign(new TypeError("unknown key"), { statusCode: 401 })

const principalOf = async (request: FastifyRequest) => {
  const token = request.headers.authorization?.slice("Bearer ".length) ?? ""
  const hash = createHash("sha256").update(token).digest()
  const [principal] = await sql`
    select k.id as key_id, a.id as account_id, k.scopes, k.permissions, a.plan, a.trial_ends_at
    from api_keys k join accounts a on a.id = k.account_id
    where k.key_hash = ${hash} and (k.expires_at is null or k.expires_at > now())`
  if (principal === undefined) throw refused
  return principal
}

const count = async (keyId: string) => {
  await sql`insert into rate_windows as w (bucket, starts_at, used) values (${`key:${keyId}`}, date_trunc('minute', now()), 1)
    on conflict (bucket, starts_at) do update set used = w.used + 1 returning used`
}

const callerOf = async (request: FastifyRequest, counted: boolean) => {
  const principal = await principalOf(request)
  if (counted) await count(principal["key_id"])
  return principal
}

const list = async (accountId: string) => {
  const rows = await sql`
    select id, name, key_prefix, scopes, permissions, last_used_at, expires_at, created_at,
      (expires_at is null or expires_at > now()) as is_active
    from api_keys where account_id = ${accountId} order by id desc`
  return rows.map((row) => ({ ...row, id: Number(row["id"]) }))
}

interface NewTemplate {
  readonly name: string
  readonly subject: string
  readonly html: string
}

const create = async (accountId: string, { html, name, subject }: NewTemplate) => {
  const variables = [
    ...new Set([...`${subject} ${html}`.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, found = ""]) => found))
  ]
  const [row] = await sql`
    insert into email_templates (id, account_id, name, subject, html, text, variables)
    values (${`tmpl_${randomUUID()}`}, ${accountId}, ${name}, ${subject}, ${html}, null, ${variables})
    returning id, numeric_id, name, subject, html, text, variables, created_at, updated_at`
  return { ...row, numeric_id: Number(row?.["numeric_id"]) }
}

const server = Fastify({ genReqId: () => randomUUID() })
server.addHook("onRequest", (request, reply, done) => {
  reply.headers({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "frame-ancestors 'none'",
    "x-request-id": request.id
  })
  done()
})
const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength })
const template = {
  type: "object",
  required: ["name", "subject", "html"],
  properties: { name: text(200), subject: text(500), html: text(1_000_000) }
}

for (const counted of [false, true]) {
  const prefix = counted ? "/counted" : ""
  server.get(`${prefix}/v1/api-keys`, async (request) => {
    const caller = await callerOf(request, counted)
    return { data: await list(caller["account_id"]) }
  })
  server.post<{ Body: NewTemplate }>(
    `${prefix}/v1/email/templates`,
    { schema: { body: template } },
    async (request, reply) => {
      const caller = await callerOf(request, counted)
      return reply.code(201).send({ data: await create(caller["account_id"], request.body) })
    }
  )
}

const prices = Buffer.from(JSON.stringify({
  data: await sql`select country, code, dial_prefix, price_micros / 1e6::float8 as price_usd, 'USD' as currency
    from sms_prices where enabled order by country collate "C", code`,
  meta: { total: 0, updated_at: new Date().toISOString() }
}))
const tag = `W/"${createHash("sha256").update(prices).digest("base64url").slice(0, 22)}"`

server.get("/v1/sms/pricing", (request, reply) => {
  reply.header("etag", tag).header("cache-control", "public, max-age=300").header("access-control-allow-origin", "*")
    .header("vary", "accept-encoding")
  return request.headers["if-none-match"] === tag
    ? reply.code(304).send()
    : reply.type("application/json").send(prices)
})

await server.listen({ port: 0, host: "127.0.0.1" })
const [address] = server.addresses()
console.log(JSON.stringify({ port: typeof address === "object" ? address.port : 0, pid: process.pid }))
