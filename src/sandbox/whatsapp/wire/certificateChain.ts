import { Curve, proto } from "@whiskeysockets/baileys"
import type { KeyPair } from "@whiskeysockets/baileys"

const { Details } = proto.CertChain.NoiseCertificate

/**
 * The certificates that the server shows in its handshake: an intermediate one signed by the root, and a leaf for the
 * server's static key. The root is the simulator's own: Baileys 7.0.0-rc14 checks form and issuer, and takes any
 * signature. A client that verifies would have to be told the root's public key.
 */
export const certificateChain = (root: KeyPair, server: KeyPair): Uint8Array => {
  const intermediate = Curve.generateKeyPair()
  const signed = (issuer: KeyPair, details: proto.CertChain.NoiseCertificate.IDetails) => {
    const bytes = Buffer.from(Details.encode(details).finish())
    return { details: bytes, signature: Curve.sign(Buffer.from(issuer.private), bytes) }
  }
  return proto.CertChain.encode({
    intermediate: signed(root, { serial: 1, issuerSerial: 0, key: intermediate.public }),
    leaf: signed(intermediate, { serial: 2, issuerSerial: 1, key: server.public })
  }).finish()
}
