/** Repeats one statement on ten connections, for machines without pgbench. */
import postgres from "postgres"
import { inputOf } from "./script.ts"

const connections = 10

const { seconds, socket, statement } = inputOf<{ socket: string; statement: string; seconds: number }>()
const sql = postgres({ path: socket, username: "postgres", database: "postgres", max: connections })

let count = 0
const until = performance.now() + seconds * 1000

const loop = async () => {
  while (performance.now() < until) {
    await sql.unsafe(statement, [], { prepare: true })
    count++
  }
}

await Promise.all(Array.from({ length: connections }, loop))
console.log(JSON.stringify({ perSecond: count / seconds }))
await sql.end()
