import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  Curve,
  derivePairingCodeKey,
  hkdf,
  hmacSign,
  proto,
  S_WHATSAPP_NET,
  WA_ADV_ACCOUNT_SIG_PREFIX
} from "@whiskeysockets/baileys"
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys"
import * as NodeCrypto from "node:crypto"
import * as NodeTimers from "node:timers/promises"
import { addressOf, lidJid, pnJid } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import { SimulatorRefusal } from "../model/SimulatorState.ts"
import type { Phones } from "../phones/Phones.ts"
import type { VirtualPhone } from "../phones/VirtualPhone.ts"
import type { Handshake } from "../wire/NoiseResponder.ts"
import { bytesOfChild, child, node, resultOf, stanzaId } from "../wire/stanza.ts"
import type { Companion, Companions } from "./Companions.ts"
import type { Connection } from "./Connection.ts"

/** A client that has shown this many QR codes must reconnect. */
const refsPerConnection = 6

/** How long an entered code waits for the client's request. */
const requestTimeoutMillis = 2_000

/** A connection of a client that is not linked yet. */
interface Candidate {
  readonly connection: Connection
  readonly noisePublic: Buffer
  readonly payload: proto.ClientPayload
  readonly refs: ReadonlyArray<string>
  byCode: CodeRequest | undefined
  /** Set after the phone accepted the client, which must sign next. */
  accepted: { readonly phone: VirtualPhone; readonly address: Address } | undefined
}

/** A client that waits until its code is entered on the phone. */
interface CodeRequest {
  readonly number: string
  readonly ref: Buffer
  readonly wrappedEphemeral: Buffer
  typed: { readonly phone: VirtualPhone; readonly ephemeral: KeyPair; readonly companionEphemeral: Buffer } | undefined
}

const wrap = async (code: string, publicKey: Uint8Array): Promise<Buffer> => {
  const salt = NodeCrypto.randomBytes(32)
  const iv = NodeCrypto.randomBytes(16)
  return Buffer.concat([salt, iv, aesEncryptCTR(publicKey, await derivePairingCodeKey(code, salt), iv)])
}

const unwrap = async (code: string, wrapped: Buffer): Promise<Buffer> => {
  const key = await derivePairingCodeKey(code, wrapped.subarray(0, 32))
  return aesDecryptCTR(wrapped.subarray(48, 80), key, wrapped.subarray(32, 48))
}

/** Links clients to phones, by a scanned QR code or an entered pairing code. */
export class Pairing {
  readonly #candidates = new Map<Connection, Candidate>()
  readonly #phones: Phones
  readonly #companions: Companions

  constructor(phones: Phones, companions: Companions) {
    this.#phones = phones
    this.#companions = companions
  }

  /** Sends a new client its QR codes. */
  begin(connection: Connection, { noisePublic, payload }: Handshake): void {
    const refs = Array.from({ length: refsPerConnection }, () => `2@${NodeCrypto.randomBytes(24).toString("base64")}`)
    this.#candidates.set(connection, { connection, noisePublic, payload, refs, byCode: undefined, accepted: undefined })
    connection.send(
      node("iq", { from: S_WHATSAPP_NET, type: "set", id: stanzaId(), xmlns: "md" }, [
        node("pair-device", {}, refs.map((ref) => node("ref", {}, Buffer.from(ref))))
      ])
    )
  }

  /** Removes a disconnected client. */
  end(connection: Connection): void {
    this.#candidates.delete(connection)
  }

  /** Scans the QR code of a client. One device is linked, also if the same phone scans twice. */
  scan(qr: string, phone: VirtualPhone): Address {
    const [ref, , , advSecret = ""] = qr.slice(qr.indexOf("#") + 1).split(",")
    const candidate = [...this.#candidates.values()].find(({ refs }) => refs.includes(ref ?? ""))
    // A browser sends a form again when its connection ends before the answer.
    if (candidate?.accepted?.phone === phone) return candidate.accepted.address
    if (candidate === undefined || candidate.accepted !== undefined) {
      throw new SimulatorRefusal("No client shows this QR code now. Scan the current one.")
    }
    return this.#accept(candidate, phone, Buffer.from(advSecret, "base64"))
  }

  /** Enters the pairing code of a client. The client finds out whether it is right. */
  async enterCode(code: string, phone: VirtualPhone): Promise<void> {
    const { connection, request } = await this.#codeRequest(phone.number)
    const typed = code.replaceAll("-", "").toUpperCase()
    const ephemeral = Curve.generateKeyPair()
    request.typed = { phone, ephemeral, companionEphemeral: await unwrap(typed, request.wrappedEphemeral) }
    connection.send(
      node("notification", {
        from: S_WHATSAPP_NET,
        id: stanzaId(),
        type: "link_code_companion_reg"
      }, [
        node("link_code_companion_reg", { stage: "primary_hello" }, [
          node("link_code_pairing_ref", {}, request.ref),
          node("primary_identity_pub", {}, Buffer.from(phone.record.keys.identity.public)),
          node("link_code_pairing_wrapped_primary_ephemeral_pub", {}, await wrap(typed, ephemeral.public))
        ])
      ])
    )
  }

  /** Handles a client that requests a pairing code, or that confirms the entered one. */
  linkCode(connection: Connection, query: BinaryNode): void {
    const candidate = this.#candidates.get(connection)
    const request = child(query, "link_code_companion_reg")
    if (candidate === undefined || request === undefined) return
    if (request.attrs["stage"] === "companion_hello") {
      const ref = Buffer.from(NodeCrypto.randomBytes(16).toString("hex"))
      candidate.byCode = {
        number: addressOf(request.attrs["jid"] ?? "", () => undefined)?.number ?? "",
        ref,
        wrappedEphemeral: bytesOfChild(request, "link_code_pairing_wrapped_companion_ephemeral_pub"),
        typed: undefined
      }
      connection.send(
        resultOf(query, [node("link_code_companion_reg", {}, [node("link_code_pairing_ref", {}, ref)])])
      )
      return
    }
    connection.send(resultOf(query))
    this.#finishCode(candidate, bytesOfChild(request, "link_code_pairing_wrapped_key_bundle"))
  }

  /** Links a client after it signed its device identity. */
  signed(connection: Connection, result: BinaryNode): Companion | undefined {
    const candidate = this.#candidates.get(connection)
    if (candidate?.accepted === undefined || child(result, "pair-device-sign") === undefined) return undefined
    const { noisePublic, payload: { devicePairingData: keys } } = candidate
    const companion: Companion = {
      address: candidate.accepted.address,
      noisePublic,
      identity: Buffer.from(keys?.eIdent ?? []),
      registrationId: Buffer.from(keys?.eRegid ?? [0]).readUIntBE(0, keys?.eRegid?.length ?? 1),
      signedPreKey: {
        id: Buffer.from(keys?.eSkeyId ?? [0]).readUIntBE(0, keys?.eSkeyId?.length ?? 1),
        value: Buffer.from(keys?.eSkeyVal ?? []),
        signature: Buffer.from(keys?.eSkeySig ?? [])
      },
      preKeys: [],
      hasHistory: false,
      logins: 0
    }
    this.#companions.add(companion)
    this.#candidates.delete(connection)
    return companion
  }

  /** Waits for the client's request: a client may show its code before the server receives it. */
  async #codeRequest(number: string) {
    for (
      const end = performance.now() + requestTimeoutMillis;
      performance.now() < end;
      await NodeTimers.setTimeout(20)
    ) {
      const candidate = [...this.#candidates.values()].findLast(({ byCode }) => byCode?.number === number)
      if (candidate?.byCode !== undefined) return { connection: candidate.connection, request: candidate.byCode }
    }
    throw new SimulatorRefusal(`No client requests a pairing code for ${number}. Request one first.`)
  }

  #finishCode(candidate: Candidate, bundle: Buffer): void {
    const typed = candidate.byCode?.typed
    if (typed === undefined) return
    const { companionEphemeral, ephemeral, phone } = typed
    const shared = Curve.sharedKey(ephemeral.private, companionEphemeral)
    const key = hkdf(shared, 32, {
      salt: bundle.subarray(0, 32),
      info: "link_code_pairing_key_bundle_encryption_key"
    })
    // A wrong code leads to different keys: this throws, and the connection ends.
    const opened = aesDecryptGCM(bundle.subarray(44), Buffer.from(key), bundle.subarray(32, 44), Buffer.alloc(0))
    const identities = Curve.sharedKey(phone.record.keys.identity.private, opened.subarray(0, 32))
    const secret = hkdf(Buffer.concat([shared, identities, opened.subarray(64)]), 32, { info: "adv_secret" })
    this.#accept(candidate, phone, Buffer.from(secret))
  }

  #accept(candidate: Candidate, phone: VirtualPhone, advSecret: Buffer): Address {
    const address = { number: phone.number, device: phone.record.nextDevice++ }
    this.#phones.changed(phone)
    candidate.accepted = { phone, address }
    candidate.connection.send(
      node("iq", { from: S_WHATSAPP_NET, type: "set", id: stanzaId() }, [
        node("pair-success", {}, [
          node("device-identity", {}, this.#deviceIdentity(candidate, address, advSecret)),
          node("device", { jid: pnJid(address), lid: lidJid(address) }),
          node("platform", { name: "sandbox" }),
          node("biz", { name: phone.record.pushName })
        ])
      ])
    )
    return address
  }

  /** The phone's signature of the new device, with a MAC by the secret of the client. */
  #deviceIdentity({ payload }: Candidate, address: Address, advSecret: Buffer): Uint8Array {
    const { identity } = this.#phones.get(address.number)?.record.keys ?? { identity: Curve.generateKeyPair() }
    const details = proto.ADVDeviceIdentity.encode({
      rawId: address.device,
      timestamp: 0,
      keyIndex: address.device,
      deviceType: proto.ADVEncryptionType.E2EE
    }).finish()
    const signedBytes = Buffer.concat([
      WA_ADV_ACCOUNT_SIG_PREFIX,
      details,
      Buffer.from(payload.devicePairingData?.eIdent ?? [])
    ])
    const signed = proto.ADVSignedDeviceIdentity.encode({
      details,
      accountSignatureKey: identity.public,
      accountSignature: Curve.sign(Buffer.from(identity.private), signedBytes)
    }).finish()
    return proto.ADVSignedDeviceIdentityHMAC.encode({ details: signed, hmac: hmacSign(signed, advSecret) }).finish()
  }
}
