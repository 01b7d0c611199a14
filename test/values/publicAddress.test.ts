import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeNet from "node:net"
import { isPublicAddress } from "../../src/values/publicAddress.ts"

/** The same policy in Node's address arithmetic. */
const model = (() => {
  const blocked = new NodeNet.BlockList()
  for (
    const [first, prefix] of [
      ["0.0.0.0", 8],
      ["10.0.0.0", 8],
      ["100.64.0.0", 10],
      ["127.0.0.0", 8],
      ["169.254.0.0", 16],
      ["172.16.0.0", 12],
      ["192.0.0.0", 24],
      ["192.0.2.0", 24],
      ["192.88.99.0", 24],
      ["192.168.0.0", 16],
      ["198.18.0.0", 15],
      ["198.51.100.0", 24],
      ["203.0.113.0", 24],
      ["224.0.0.0", 4],
      ["240.0.0.0", 4]
    ] as const
  ) blocked.addSubnet(first, prefix, "ipv4")
  for (const [first, prefix] of [["2001::", 23], ["2001:db8::", 32], ["2002::", 16], ["3fff::", 20]] as const) {
    blocked.addSubnet(first, prefix, "ipv6")
  }
  const global = new NodeNet.BlockList()
  global.addSubnet("2000::", 3, "ipv6")
  return (ip: string) =>
    NodeNet.isIPv4(ip) ? !blocked.check(ip, "ipv4") : global.check(ip, "ipv6") && !blocked.check(ip, "ipv6")
})()

const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))
const EdgeOfIpv4 = Schema.Literals([0, 10, 100, 127, 128, 169, 172, 192, 198, 203, 223, 224, 240, 255])
const EdgeOfIpv6 = Schema.Literals([0x1fff, 0x2000, 0x2001, 0x2002, 0x2003, 0x2600, 0x3ffe, 0x3fff, 0x4000, 0xfd00])
const EdgeOfSecond = Schema.Literals([0, 1, 0x1ff, 0x200, 0xdb7, 0xdb8, 0xdb9, 0xfff, 0x1000])

const canonical = (groups: ReadonlyArray<number>): string =>
  new URL(`http://[${groups.map((group) => group.toString(16)).join(":")}]`).hostname.slice(1, -1)

const edges: ReadonlyArray<readonly [string, boolean]> = [
  ["9.255.255.255", true],
  ["10.0.0.0", false],
  ["11.0.0.0", true],
  ["100.63.255.255", true],
  ["100.64.0.0", false],
  ["100.127.255.255", false],
  ["100.128.0.0", true],
  ["172.15.255.255", true],
  ["172.16.0.0", false],
  ["172.31.255.255", false],
  ["172.32.0.0", true],
  ["192.0.1.0", true],
  ["198.17.255.255", true],
  ["198.19.255.255", false],
  ["198.20.0.0", true],
  ["223.255.255.255", true],
  ["224.0.0.0", false],
  ["255.255.255.255", false],
  ["2001:1ff::1", false],
  ["2001:200::1", true],
  ["2001:4860:4860::8888", true],
  ["2606:4700::1111", true],
  ["3fff:fff::1", false],
  ["3fff:1000::1", true],
  ["::ffff:8.8.8.8", false],
  ["64:ff9b::808:808", false],
  ["fe80::1%eth0", false],
  ["2606:4700::1%eth0", false]
]

const noAddresses = [
  "",
  "localhost",
  "8.8.8",
  "8.8.8.8.8",
  "08.8.8.8",
  "0x8.8.8.8",
  "8.8.8.256",
  "134744072",
  "2606",
  ":"
]

describe("isPublicAddress", () => {
  for (const [ip, expected] of edges) {
    it(`isPublicAddress ${expected ? "accepts" : "refuses"} ${ip}`, () =>
      assert.strictEqual(isPublicAddress(ip), expected))
  }

  it("isPublicAddress refuses addresses in unusual spellings", () => {
    for (const text of noAddresses) assert.isFalse(isPublicAddress(text), text)
  })

  it.prop("isPublicAddress agrees with Node's BlockList on every IPv4 address", [Byte, Byte, Byte, Byte], (bytes) => {
    assert.strictEqual(isPublicAddress(bytes.join(".")), model(bytes.join(".")))
  })

  it.prop("isPublicAddress agrees with Node's BlockList near the edges of the IPv4 ranges", [
    EdgeOfIpv4,
    Byte,
    Byte,
    Byte
  ], (bytes) => {
    assert.strictEqual(isPublicAddress(bytes.join(".")), model(bytes.join(".")))
  })

  it.prop(
    "isPublicAddress agrees with Node's BlockList on IPv6 addresses, compressed or not",
    [EdgeOfIpv6, Schema.Union([EdgeOfSecond, Group]), Group, Schema.Array(Group)],
    ([first, second, third, rest]) => {
      const groups = [first, second, third, ...rest, 0, 0, 0, 0, 0].slice(0, 8)
      const full = groups.map((group) => group.toString(16)).join(":")
      assert.strictEqual(isPublicAddress(full), model(full))
      assert.strictEqual(isPublicAddress(canonical(groups)), model(full))
    }
  )
})
