import * as NodeChildProcess from "node:child_process"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import type { EmbeddedAccount } from "./EmbeddedAccount.ts"

/** Nothing of the caller's environment reaches the server: PGDATA and the like would steer it. */
export const programOptions = (account: EmbeddedAccount) => ({
  ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
  cwd: "/",
  env: { PATH: NodeProcess.env["PATH"], LC_ALL: "C", TZ: "UTC" }
})

/** Runs a program to its end as the account; what it wrote becomes the error when it fails. */
export const runProgram = (account: EmbeddedAccount, program: string, args: ReadonlyArray<string>) =>
  new Promise<void>((resolve, reject) => {
    NodeChildProcess.execFile(program, args, programOptions(account), (error, stdout, stderr) => {
      if (error === null) return resolve()
      const name = NodePath.basename(program)
      const text = (stderr || stdout || error.message).trim()
      reject(new Error(text.startsWith(name) ? text : `${name}: ${text}`))
    })
  })
