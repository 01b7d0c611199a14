/**
 * The same two endpoints, hand-written with Fastify and postgres.js. Each request looks up the key by its hash, reads
 * or inserts the row and answers the same JSON. Under `/counted` each request is also counted in a row per key and
 * minute, as an exact limit across nodes requires.
 */
import Fastify, { type FastifyRequest } from "fastify"
import { createHash, randomUUID } from "node:crypto"
import postgres from "postgres"
import { keyPrefix } from "../../../src/api-keys/ApiKeys.ts"
import * as Tokens from "../../../src/platform/crypto/Tokens.ts"
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

const answer = (data: unknown) => ({
  success: true,
  data,
  meta: { request_id: randomUUID(), timestamp: new Date().toISOString() }
})

const find = async (accountId: string, id: string) => {
  const [row] = await sql`
    select id, name, key_prefix, scopes, permissions, last_used_at, expires_at, created_at,
      (expires_at is null or expires_at > now()) as is_active
    from api_keys where id = ${id} and account_id = ${accountId}`
  return { ...row, id: Number(row?.["id"]) }
}

const create = async (accountId: string, name: string) => {
  const key = Tokens.mint(keyPrefix)
  const hash = Buffer.from(Tokens.hash(key))
  const [row] = await sql`
    insert into api_keys (account_id, name, key_hash, key_prefix, scopes, permissions, expires_at)
    values (${accountId}, ${name}, ${hash}, ${key.slice(0, 12)}, '{}', '{}', null)
    returning id, name, key_prefix, scopes, permissions, expires_at, created_at`
  return { ...row, id: Number(row?.["id"]), key }
}

const server = Fastify()
const byId = { type: "object", properties: { id: { type: "integer" } } }
const named = { type: "object", required: ["name"], properties: { name: { type: "string", maxLength: 100 } } }

for (const counted of [false, true]) {
  const prefix = counted ? "/counted" : ""
  server.get<{ Params: { id: string } }>(`${prefix}/v1/api-keys/:id`, { schema: { params: byId } }, async (request) => {
    const caller = await callerOf(request, counted)
    return answer(await find(caller["account_id"], request.params.id))
  })
  server.post<{ Body: { name: string } }>(
    `${prefix}/v1/api-keys`,
    { schema: { body: named } },
    async (request, reply) => {
      const caller = await callerOf(request, counted)
      return reply.code(201).send(answer(await create(caller["account_id"], request.body.name)))
    }
  )
}

await server.listen({ port: 0, host: "127.0.0.1" })
const [address] = server.addresses()
console.log(JSON.stringify({ port: typeof address === "object" ? address.port : 0 }))
