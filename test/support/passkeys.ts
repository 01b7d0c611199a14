/** Passkeys without a browser: what it answers when it makes one, and when it uses one. */
import * as NodeCrypto from "node:crypto"

const sha256 = (bytes: string | Uint8Array) => NodeCrypto.createHash("sha256").update(bytes).digest()

/** The head of a CBOR value: its major type and its length or number. */
const head = (major: number, length: number) => {
  const type = major << 5
  if (length < 24) return Buffer.from([type | length])
  return length < 256 ? Buffer.from([type | 24, length]) : Buffer.from([type | 25, length >> 8, length & 255])
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")
const bytesOf = (text = "") => Buffer.from(text, "base64url")

type Cbor = number | string | Uint8Array | ReadonlyArray<Cbor> | ReadonlyMap<Cbor, Cbor>

const cbor = (value: Cbor): Buffer => {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if (value instanceof Map) return Buffer.concat([head(5, value.size), ...[...value].flat().map(cbor)])
  const list = value as ReadonlyArray<Cbor>
  return Buffer.concat([head(4, list.length), ...list.map(cbor)])
}

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}

const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const octets = (bytes: Uint8Array) => der(0x04, bytes)
const bits = (bytes: Uint8Array) => der(0x03, Buffer.from([0]), bytes)
const small = (tag: number, number: number) => der(tag, Buffer.from([number]))
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"))
const time = (text: string) => der(0x17, Buffer.from(text))
const named = (name: string) => sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(name)))))

const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"))

/** The numbers of the algorithms (COSE), with a new key pair and the public key's own members. */
const algorithms = {
  EdDSA: {
    number: -8,
    make: () => NodeCrypto.generateKeyPairSync("ed25519"),
    members: (jwk: NodeCrypto.JsonWebKey) => [[1, 1], [-1, 6], [-2, bytesOf(jwk.x)]]
  },
  ES256: {
    number: -7,
    make: () => NodeCrypto.generateKeyPairSync("ec", { namedCurve: "P-256" }),
    members: (jwk: NodeCrypto.JsonWebKey) => [[1, 2], [-1, 1], [-2, bytesOf(jwk.x)], [-3, bytesOf(jwk.y)]]
  },
  RS256: {
    number: -257,
    make: () => NodeCrypto.generateKeyPairSync("rsa", { modulusLength: 2048 }),
    members: (jwk: NodeCrypto.JsonWebKey) => [[1, 3], [-1, bytesOf(jwk.n)], [-2, bytesOf(jwk.e)]]
  }
} as const satisfies Record<string, {
  readonly number: number
  readonly make: () => NodeCrypto.KeyPairKeyObjectResult
  readonly members: (jwk: NodeCrypto.JsonWebKey) => ReadonlyArray<readonly [Cbor, Cbor]>
}>

export type Algorithm = keyof typeof algorithms

const spkiOf = (key: NodeCrypto.KeyObject) => key.export({ format: "der", type: "spki" })

interface Certificate {
  readonly serial: number
  readonly name: string
  readonly spki: Uint8Array
  readonly issuer: NodeCrypto.KeyObject
  readonly extensions: ReadonlyArray<Uint8Array>
}

const certificate = ({ extensions, issuer, name, serial, spki }: Certificate) => {
  const body = sequence(
    der(0xa0, small(0x02, 2)),
    small(0x02, serial),
    ecdsaWithSha256,
    named("Root"),
    sequence(time("200101000000Z"), time("491231235959Z")),
    named(name),
    spki,
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))])
  )
  return sequence(body, ecdsaWithSha256, bits(NodeCrypto.sign("sha256", body, issuer)))
}

/** Where a certificate says that its issuer lists revoked ones. */
const revocationList = (url: string) =>
  sequence(
    oid("551d1f"),
    octets(sequence(sequence(der(0xa0, der(0xa0, der(0x86, Buffer.from(url)))))))
  )

/** What an Android phone says of a key that it made for a challenge. */
const keyDescription = (challenge: Uint8Array) =>
  sequence(
    oid("2b06010401d679020111"),
    octets(
      sequence(
        small(0x02, 3),
        small(0x0a, 1),
        small(0x02, 4),
        small(0x0a, 1),
        octets(challenge),
        octets(Buffer.alloc(0)),
        sequence(),
        sequence()
      )
    )
  )

/** How a passkey is attested; the URL is in its certificate. */
export type Attestation =
  | { readonly format: "none" }
  | { readonly format: "packed" }
  | { readonly format: "android-key"; readonly url: string }

/** What a page asks of a browser, and the site that asks. */
export interface Wanted {
  readonly challenge: string
  readonly host: string
  readonly origin: string
}

/** A new passkey, and the answers of its browser as JSON. */
export const newPasskey = (algorithm: Algorithm) => {
  const { make, members, number } = algorithms[algorithm]
  const { privateKey, publicKey } = make()
  const id = NodeCrypto.randomBytes(16)
  const sign = (bytes: Uint8Array) => NodeCrypto.sign(algorithm === "EdDSA" ? null : "sha256", bytes, privateKey)

  const clientOf = (type: string, { challenge, origin }: Wanted) =>
    Buffer.from(JSON.stringify({ type, challenge, origin }))
  const answered = (parts: Readonly<Record<string, Uint8Array>>) => {
    const response = Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, base64(bytes)]))
    return JSON.stringify({
      id: base64(id),
      rawId: base64(id),
      type: "public-key",
      clientExtensionResults: {},
      response
    })
  }

  const certificates = (client: Uint8Array, url: string) => {
    const root = algorithms.ES256.make()
    const issuer = root.privateKey
    const extensions = [keyDescription(sha256(client)), revocationList(url)]
    return [
      certificate({ serial: 2, name: "Phone", spki: spkiOf(publicKey), issuer, extensions }),
      certificate({ serial: 1, name: "Root", spki: spkiOf(root.publicKey), issuer, extensions: [] })
    ]
  }

  return {
    /** The answer of a browser that has just made the passkey. */
    created: (wanted: Wanted, attestation: Attestation): string => {
      const cose = new Map<Cbor, Cbor>([[3, number], ...members(publicKey.export({ format: "jwk" }))])
      const counter = Buffer.alloc(4)
      const model = Buffer.alloc(16)
      // Present, verified, and with a credential.
      const flags = Buffer.from([0x45])
      const length = Buffer.from([0, id.length])
      const authData = Buffer.concat([sha256(wanted.host), flags, counter, model, length, id, cbor(cose)])
      const client = clientOf("webauthn.create", wanted)
      const signed: ReadonlyArray<readonly [Cbor, Cbor]> = [
        ["alg", number],
        ["sig", sign(Buffer.concat([authData, sha256(client)]))]
      ]
      const statement = new Map<Cbor, Cbor>(attestation.format === "none" ? [] : signed)
      if (attestation.format === "android-key") statement.set("x5c", certificates(client, attestation.url))
      const object = new Map<Cbor, Cbor>([["fmt", attestation.format], ["attStmt", statement], ["authData", authData]])
      return answered({ clientDataJSON: client, attestationObject: cbor(object) })
    },
    /** The answer of a browser that uses it. */
    used: (wanted: Wanted): string => {
      const authenticatorData = Buffer.concat([sha256(wanted.host), Buffer.from([0x05]), Buffer.alloc(4)])
      const client = clientOf("webauthn.get", wanted)
      const signature = sign(Buffer.concat([authenticatorData, sha256(client)]))
      return answered({ clientDataJSON: client, authenticatorData, signature })
    }
  }
}
