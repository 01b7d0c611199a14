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

/** The two directions after the handshake, each with its own key and counter. */
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

/** What a client has shown when the handshake is over. */
export interface Handshake {
  readonly transport: NoiseTransport
  /** The client's static key: who it is, once it is registered. */
  readonly noisePublic: Buffer
  readonly payload: proto.ClientPayload
}

/** The server's half of Noise_XX_25519_AESGCM_SHA256 in the form WhatsApp gives it. Throws when a message is forged. */
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

  /** The answer to the client's first message. */
  hello(message: Uint8Array): Uint8Array {
    const client = proto.HandshakeMessage.decode(message).clientHello?.ephemeral
    if (client === null || client === undefined) throw new Error("The first message is no ClientHello")
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

  /** Ends the handshake with the client's second message. */
  finish(message: Uint8Array): Handshake {
    const client = proto.HandshakeMessage.decode(message).clientFinish
    if (!client?.static || !client.payload) throw new Error("The second message is no ClientFinish")
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
