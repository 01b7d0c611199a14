import { assert, describe, it } from "@effect/vitest"
import { Context, type Layer } from "effect"
import type { CredentialStore } from "../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { Journal } from "../../../src/channels/whatsapp/credentials/Journal.ts"
import type { WhatsAppMessages } from "../../../src/channels/whatsapp/outbox/WhatsAppMessages.ts"
import type { SessionActor } from "../../../src/channels/whatsapp/sessions/SessionActor.ts"
import {
  GroupDirectory,
  MessageTraffic,
  ReceivedMessages
} from "../../../src/channels/whatsapp/socket/MessageTraffic.ts"

/** Type-checks only if the layer requires the port. Then a program without the port's layer does not compile. */
const requires = <Port, L extends Layer.Any>(_isRequired: Port extends Layer.Services<L> ? true : false): void => {}

describe("the ports of the WhatsApp channel", () => {
  it("are required by the layers that use them", () => {
    requires<Journal, typeof CredentialStore.layer>(true)
    requires<MessageTraffic, typeof SessionActor>(true)
    requires<ReceivedMessages, typeof WhatsAppMessages.layer>(true)
    requires<GroupDirectory, typeof WhatsAppMessages.layer>(true)
    requires<MessageTraffic, typeof CredentialStore.layer>(false)
  })

  it("have no default", () => {
    assert.isFalse(Context.isReference(Journal))
    assert.isFalse(Context.isReference(MessageTraffic))
    assert.isFalse(Context.isReference(ReceivedMessages))
    assert.isFalse(Context.isReference(GroupDirectory))
  })
})
