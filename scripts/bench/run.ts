/** `npm run bench [name …]`: runs benches one after the other, each in a process of its own; all of them without a name. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const benches: Readonly<Record<string, string>> = {
  http: "requests/s beside Fastify with postgres.js and beside pgbench",
  bulk: "mails/s beside nodemailer's pool and beside bare RSA signatures",
  webhooks: "durable deliveries/s beside a bare undici loop",
  memory: "bytes of one batch and of 100 waiting ones",
  compose: "time to render, compose and sign one message beside a bare signature",
  smtp: "time to hand one message over beside a raw socket"
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !Object.hasOwn(benches, name))

if (unknown.length > 0) {
  console.error(`There is no bench ${unknown.join(", ")}. There are:`)
  for (const [name, meaning] of Object.entries(benches)) console.error(`  ${name.padEnd(10)}${meaning}`)
  process.exitCode = 1
} else {
  for (const name of names.length > 0 ? names : Object.keys(benches)) {
    const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${name}.ts`)], { stdio: "inherit" })
    if (status !== 0) process.exitCode = 1
  }
}
