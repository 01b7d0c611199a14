import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { IpAddress } from "../../src/values/IpAddress.ts"

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
