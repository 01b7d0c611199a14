import {
  aesDecryptGCM,
  aesEncryptGCM,
  Curve,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
  sha256
} from "@whiskeysockets/baileys"
import type { KeyPair } from "@whiskeysockets/baileys"

const ivOf = (counter: number): Buffer => {
  const iv = Buffer.alloc(12)
  iv.writeUInt32BE(counter, 8)
  return iv
}

const noData = Buffer.alloc(0)

/** The encryption after the handshake. Each direction has a key and a counter. */
export class NoiseTransport {
  readonly #toClient: Buffer
  readonly #fromClient: Buffer
  #sent = 0
  #received = 0

  constructor(keys: { readonly fromClient: Buffer; readonly toClient: Buffer }) {
    this.#fromClient = keys.fromClient
    this.#toClient = keys.toClient
  }

  encrypt(plain: Uint8Array): Buffer {
    return aesEncryptGCM(plain, this.#toClient, ivOf(this.#sent++), noData)
  }

  decrypt(cipher: Uint8Array): Buffer {
    return aesDecryptGCM(cipher, this.#fromClient, ivOf(this.#received++), noData)
  }
}

/** The result of a handshake. */
export interface Handshake {
  readonly transport: NoiseTransport
  /** The client's static key, which identifies a registered device. */
  readonly noisePublic: Buffer
  readonly payload: proto.ClientPayload
}

/** The server's side of WhatsApp's Noise_XX_25519_AESGCM_SHA256. Throws on a forged message. */
export class NoiseResponder {
  readonly #static: KeyPair
  readonly #certificates: Uint8Array
  readonly #ephemeral = Curve.generateKeyPair()
  #hash: Buffer = Buffer.from(NOISE_MODE)
  #chaining: Buffer = this.#hash
  #key: Buffer = this.#hash
  #counter = 0

  constructor(serverStatic: KeyPair, certificates: Uint8Array) {
    this.#static = serverStatic
    this.#certificates = certificates
    this.#mixHash(NOISE_WA_HEADER)
  }

  /** Answers the client's first message. */
  hello(message: Uint8Array): Uint8Array {
    const client = proto.HandshakeMessage.decode(message).clientHello?.ephemeral
    if (client === null || client === undefined) throw new Error("The first message is not a ClientHello")
    this.#mixHash(client)
    this.#mixHash(this.#ephemeral.public)
    this.#mixKey(this.#ephemeral, client)
    const staticKey = this.#encrypt(this.#static.public)
    this.#mixKey(this.#static, client)
    const payload = this.#encrypt(this.#certificates)
    return proto.HandshakeMessage.encode({
      serverHello: { ephemeral: this.#ephemeral.public, static: staticKey, payload }
    }).finish()
  }

  /** Completes the handshake with the client's second message. */
  finish(message: Uint8Array): Handshake {
    const client = proto.HandshakeMessage.decode(message).clientFinish
    if (!client?.static || !client.payload) throw new Error("The second message is not a ClientFinish")
    const noisePublic = this.#decrypt(client.static)
    this.#mixKey(this.#ephemeral, noisePublic)
    const payload = proto.ClientPayload.decode(this.#decrypt(client.payload))
    const keys = hkdf(noData, 64, { salt: this.#chaining, info: "" })
    const transport = new NoiseTransport({
      fromClient: Buffer.from(keys.subarray(0, 32)),
      toClient: Buffer.from(keys.subarray(32))
    })
    return { transport, noisePublic, payload }
  }

  #mixHash(data: Uint8Array): void {
    this.#hash = sha256(Buffer.concat([this.#hash, data]))
  }

  #mixKey(own: KeyPair, theirs: Uint8Array): void {
    const secret = Curve.sharedKey(own.private, theirs)
    const keys = hkdf(secret, 64, { salt: this.#chaining, info: "" })
    this.#chaining = Buffer.from(keys.subarray(0, 32))
    this.#key = Buffer.from(keys.subarray(32))
    this.#counter = 0
  }

  #encrypt(plain: Uint8Array): Buffer {
    const cipher = aesEncryptGCM(plain, this.#key, ivOf(this.#counter++), this.#hash)
    this.#mixHash(cipher)
    return cipher
  }

  #decrypt(cipher: Uint8Array): Buffer {
    const plain = aesDecryptGCM(cipher, this.#key, ivOf(this.#counter++), this.#hash)
    this.#mixHash(cipher)
    return plain
  }
}

const { Details } = proto.CertChain.NoiseCertificate

/**
 * The certificates of the server's handshake: an intermediate signed by the root, and a leaf for the server's static
 * key. The simulator creates the root. Baileys 7.0.0-rc14 checks the form and the issuer, but no signature. A client
 * that does needs the root's public key.
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
