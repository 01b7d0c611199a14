import { fewRandomBytes } from "./randomness.ts"

/** A UUID version 7 (RFC 9562) of an instant in milliseconds. */
export const uuid7 = (millis: number): string => {
  const bytes = fewRandomBytes(16)
  bytes.writeUIntBE(millis, 0, 6)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString("hex")
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
