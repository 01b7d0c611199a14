import * as NodeChildProcess from "node:child_process"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import type { EmbeddedAccount } from "./EmbeddedAccount.ts"

/** The server gets none of the caller's environment: PGDATA and similar variables would change its behaviour. */
export const programOptions = (account: EmbeddedAccount) => ({
  ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
  cwd: "/",
  env: { PATH: NodeProcess.env["PATH"], LC_ALL: "C", TZ: "UTC" }
})

/** Runs a program as the account until it ends. If it fails, its output becomes the error. */
export const runProgram = (account: EmbeddedAccount, program: string, args: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    NodeChildProcess.execFile(program, args, programOptions(account), (error, stdout, stderr) => {
      if (error === null) return resolve()
      const name = NodePath.basename(program)
      const text = (stderr || stdout || error.message).trim()
      reject(new Error(text.startsWith(name) ? text : `${name}: ${text}`))
    })
  })
