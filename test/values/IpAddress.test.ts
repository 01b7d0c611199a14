import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { IpAddress, networkOf } from "../../src/values/IpAddress.ts"

const read = (text: string) => Result.getOrUndefined(Schema.decodeResult(IpAddress)(text))

describe("IpAddress", () => {
  it("an IP address has one spelling", () => {
    const spellings = [
      ["192.0.2.1", "192.0.2.1"],
      ["0.0.0.0", "0.0.0.0"],
      ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
      ["::1", "::1"],
      ["::ffff:192.0.2.1", "192.0.2.1"],
      ["::FFFF:c000:0201", "192.0.2.1"]
    ] as const
    for (const [text, is] of spellings) assert.strictEqual(String(read(text)), is)
  })

  it("a number, zone, port, network or octal form is not an IP address", () => {
    for (
      const text of [
        "",
        "1",
        "1.2.3",
        "1.2.3.4.5",
        "1.2.3.256",
        "01.2.3.4",
        "1.2.3.4:80",
        "1.2.3.0/24",
        "0x7f.1",
        "::1%eth0"
      ]
    ) assert.isUndefined(read(text), text)
    for (const text of [":::", "[::1]", "::g", "1::2::3", "fe80::1/64", "example.com", "1.2.3.4 "]) {
      assert.isUndefined(read(text), text)
    }
  })
})

describe("networkOf", () => {
  it("each IPv4 address is one network, in any spelling", () => {
    assert.strictEqual(networkOf("192.0.2.1"), "192.0.2.1")
    assert.strictEqual(networkOf("::ffff:192.0.2.1"), "192.0.2.1")
  })

  const Group = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffff }))
  const Half = Schema.Tuple([Group, Group, Group, Group])
  const textOf = (groups: ReadonlyArray<number>) => groups.map((group) => group.toString(16)).join(":")

  it.prop("IPv6 addresses are in one network exactly if their first 64 bits are the same", [Half, Half, Half], ([
    network,
    one,
    other
  ]) => {
    // Other forms of an IPv4 address begin with zeros.
    const prefix = [0x2001, ...network.slice(1)]
    assert.strictEqual(networkOf(textOf([...prefix, ...one])), networkOf(textOf([...prefix, ...other])))
    const next = [0x2001, ...network.slice(1, 3), (network[3] + 1) % 0x10000]
    assert.notStrictEqual(networkOf(textOf([...prefix, ...one])), networkOf(textOf([...next, ...one])))
  })

  it("text that is no address stands for itself", () => {
    assert.strictEqual(networkOf(""), "")
    assert.strictEqual(networkOf("fe80::1%eth0"), "fe80::1%eth0")
  })
})
