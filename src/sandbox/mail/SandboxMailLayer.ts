import { Layer } from "effect"
import { SandboxInboxRepo } from "./SandboxInboxRepo.ts"
import { SandboxMailHttp } from "./SandboxMailHttp.ts"
import { SandboxMailServer } from "./SandboxMailServer.ts"

/**
 * The mail part of the sandbox: a real SMTP server, its inbox on the table `sandbox_mails` and the inbox's pages. The
 * relay address is made of the server's port.
 */
export const SandboxMailLayer = SandboxMailHttp.pipe(
  Layer.provideMerge(SandboxMailServer.layer()),
  Layer.provideMerge(SandboxInboxRepo.layer())
)
