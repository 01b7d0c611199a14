import { generateSignalPubKey } from "@whiskeysockets/baileys"
import type { BinaryNode } from "@whiskeysockets/baileys"
import { bigEndian, bytesOfChild, child, node, numberOfChild } from "../wire/stanza.ts"

const curve25519 = Buffer.from([5])

/** The public part of a pre-key. */
export interface PublicPreKey {
  readonly id: number
  readonly value: Uint8Array
}

/** The public keys that open a Signal session with a device. */
export interface KeyBundle {
  readonly registrationId: number
  readonly identity: Uint8Array
  readonly signedPreKey: PublicPreKey & { readonly signature: Uint8Array }
  /** Absent when the device has used up its pre-keys. */
  readonly preKey: PublicPreKey | undefined
}

const keyNode = (tag: string, { id, value }: PublicPreKey, more: ReadonlyArray<BinaryNode> = []) =>
  node(tag, {}, [node("id", {}, bigEndian(id, 3)), node("value", {}, Buffer.from(value)), ...more])

/** The children of a `<user>` in the answer to a key query, and of the `<keys>` in a retry receipt. */
export const bundleNodes = ({ identity, preKey, registrationId, signedPreKey }: KeyBundle): Array<BinaryNode> => [
  node("registration", {}, bigEndian(registrationId, 4)),
  node("type", {}, curve25519),
  node("identity", {}, Buffer.from(identity)),
  keyNode("skey", signedPreKey, [node("signature", {}, Buffer.from(signedPreKey.signature))]),
  ...(preKey === undefined ? [] : [keyNode("key", preKey)])
]

export const readPreKey = (key: BinaryNode): PublicPreKey => ({
  id: numberOfChild(key, "id"),
  value: bytesOfChild(key, "value")
})

export const readSignedPreKey = (key: BinaryNode | undefined): KeyBundle["signedPreKey"] => ({
  id: numberOfChild(key, "id"),
  value: bytesOfChild(key, "value"),
  signature: bytesOfChild(key, "signature")
})

/** The keys in a retry receipt. Clients add them from the second retry. */
export const readRetryKeys = (receipt: BinaryNode): KeyBundle | undefined => {
  const keys = child(receipt, "keys")
  if (keys === undefined) return undefined
  const preKey = child(keys, "key")
  return {
    registrationId: numberOfChild(receipt, "registration"),
    identity: bytesOfChild(keys, "identity"),
    signedPreKey: readSignedPreKey(child(keys, "skey")),
    preKey: preKey === undefined ? undefined : readPreKey(preKey)
  }
}

/** The bundle in the form of libsignal. */
export const signalSession = ({ identity, preKey, registrationId, signedPreKey }: KeyBundle) => ({
  registrationId,
  identityKey: generateSignalPubKey(identity),
  signedPreKey: {
    keyId: signedPreKey.id,
    publicKey: generateSignalPubKey(signedPreKey.value),
    signature: signedPreKey.signature
  },
  ...(preKey === undefined
    ? {}
    : { preKey: { keyId: preKey.id, publicKey: generateSignalPubKey(preKey.value) } })
})
