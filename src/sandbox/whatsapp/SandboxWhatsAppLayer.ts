import { Layer } from "effect"
import { PairingRequests } from "../../channels/whatsapp/sessions/PairingRequests.ts"
import { SandboxPhonesHttp } from "./SandboxPhonesHttp.ts"
import { SandboxWhatsAppRepo } from "./SandboxWhatsAppRepo.ts"
import { SimulatedWhatsApp } from "./SimulatedWhatsApp.ts"
import { SandboxWhatsAppHost } from "./SimulatorHost.ts"

/**
 * The WhatsApp part of the sandbox: one simulator in the whole cluster, its state in the database, and on every node the
 * way to it and the pages of its phones.
 */
export const SandboxWhatsAppLayer = Layer.merge(SandboxWhatsAppHost, SandboxPhonesHttp).pipe(
  Layer.provide(PairingRequests.layer),
  Layer.provideMerge(SimulatedWhatsApp.layer),
  Layer.provide(SandboxWhatsAppRepo.layer)
)
