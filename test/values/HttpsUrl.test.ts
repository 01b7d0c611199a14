import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { HttpsUrl, parseHttpsUrl } from "../../src/values/HttpsUrl.ts"

const decode = (text: unknown, allowLoopback = false) => Schema.decodeUnknownResult(HttpsUrl({ allowLoopback }))(text)

const refused: ReadonlyArray<readonly [what: string, text: string, why: RegExp]> = [
  ["plain http", "http://example.com/", /start with https/],
  ["another scheme", "ftp://example.com/", /starts with https/],
  ["no scheme", "example.com/hook", /starts with https/],
  ["no slashes after the scheme", "https:example.com", /starts with https/],
  ["no host", "https:///", /starts with https/],
  ["a space in the host", "https://exa mple.com", /starts with https/],
  ["a line break", "https://example.com/a\nb", /control characters/],
  ["a tab in front", "\thttps://example.com/", /control characters/],
  ["an empty label", "https://a..example/", /not a host name/],
  ["two final dots", "https://a.example../", /not a host name/],
  ["a user name", "https://me@example.com/", /user name/],
  ["a user name that looks like the host", "https://example.com@127.0.0.1/", /user name/],
  ["a password", "https://:secret@example.com/", /user name or password/],
  ["a fragment", "https://example.com/#top", /fragment/],
  ["an empty fragment", "https://example.com/#", /fragment/],
  ["2,049 characters", `https://example.com/${"a".repeat(2029)}`, /2048/],
  ["what grows beyond 2,048 when it is escaped", `https://example.com/${"ü".repeat(1000)}`, /2048/],
  ["SMTP", "https://example.com:25/", /port 25/],
  ["SSH", "https://example.com:22/", /port 22/],
  ["submission", "https://example.com:587/", /port 587/],
  ["port 0", "https://example.com:0/", /port 0/],
  ["MySQL", "https://example.com:3306/", /MySQL/],
  ["PostgreSQL", "https://example.com:5432/", /PostgreSQL/],
  ["Redis", "https://example.com:6379/", /Redis/],
  ["memcached", "https://example.com:11211/", /memcached/],
  ["MongoDB", "https://example.com:27017/", /MongoDB/],
  ["localhost", "https://localhost/", /this machine/],
  ["localhost with a final dot", "https://localhost./", /this machine/],
  ["a name below localhost", "https://a.localhost/", /this machine/],
  ["loopback", "https://127.0.0.1/", /127\.0\.0\.1 is not public/],
  ["loopback in short", "https://127.1/", /127\.0\.0\.1 is not public/],
  ["loopback as one number", "https://2130706433/", /127\.0\.0\.1 is not public/],
  ["loopback in octal", "https://0177.0.0.1/", /127\.0\.0\.1 is not public/],
  ["loopback in hexadecimal", "https://0x7f000001/", /127\.0\.0\.1 is not public/],
  ["loopback in full-width digits", "https://１２７.0.0.1/", /127\.0\.0\.1 is not public/],
  ["loopback escaped", "https://%31%32%37.0.0.1/", /127\.0\.0\.1 is not public/],
  ["loopback with a final dot", "https://127.0.0.1./", /127\.0\.0\.1 is not public/],
  ["the metadata service", "https://169.254.169.254/latest/", /not public/],
  ["a private network", "https://192.168.1.1/", /not public/],
  ["IPv6 loopback", "https://[::1]/", /::1 is not public/],
  ["mapped loopback", "https://[::ffff:127.0.0.1]/", /not public/],
  ["a unique local address", "https://[fd00::1]/", /not public/],
  ["an IPv6 zone", "https://[fe80::1%25eth0]/", /starts with https/]
]

const accepted: ReadonlyArray<readonly [text: string, stored: string]> = [
  ["https://Example.COM", "https://example.com/"],
  ["https://example.com:443/a?b=c", "https://example.com/a?b=c"],
  ["https://example.com./a", "https://example.com/a"],
  ["https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"],
  ["https://example.com:80/", "https://example.com:80/"],
  ["https://example.com:8443/", "https://example.com:8443/"],
  ["https://example.com:1024/", "https://example.com:1024/"],
  ["https://8.8.8.8/", "https://8.8.8.8/"],
  ["https://134744072/", "https://8.8.8.8/"],
  ["https://[2606:4700:0::1]/", "https://[2606:4700::1]/"],
  [`https://example.com/${"a".repeat(2028)}`, `https://example.com/${"a".repeat(2028)}`]
]

describe("HttpsUrl", () => {
  for (const [what, text, why] of refused) {
    it.effect(`HttpsUrl refuses ${what} with a reason`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.fromResult(decode(text)))
        assert.match(error.message, why)
      }))
  }

  for (const [text, stored] of accepted) {
    it(`the URL ${text.slice(0, 40)} is stored in its normal form`, () => {
      assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(text)), stored)
    })
  }

  it("the refusal of a host that is not public says what to use instead", () => {
    for (const host of ["10.0.0.1", "[::1]", "localhost", "a.localhost"]) {
      const parsed = parseHttpsUrl(`https://${host}/`, { allowLoopback: false })
      assert.match(Result.isFailure(parsed) ? parsed.failure.message : "", /: use a public host$/, host)
    }
  })

  it("a host that is not public is distinguished from every other fault", () => {
    const kindOf = (url: string) =>
      Result.match(parseHttpsUrl(url, { allowLoopback: false }), {
        onSuccess: () => undefined,
        onFailure: ({ kind }) => kind
      })
    for (const host of ["10.0.0.1", "127.1", "[::1]", "localhost", "a.localhost", "169.254.169.254"]) {
      assert.strictEqual(kindOf(`https://${host}/`), "blocked_address", host)
    }
    for (
      const url of ["http://example.com/", "not-public", "https://a:b@example.com/", "https://example.com:25/", ""]
    ) {
      assert.strictEqual(kindOf(url), "invalid", url)
    }
    assert.isUndefined(kindOf("https://example.com/"))
  })

  it("development may use http and loopback for three hosts only", () => {
    for (const host of ["localhost:3000", "127.0.0.1:3000", "[::1]:3000", "2130706433:3000"]) {
      assert.isTrue(Result.isSuccess(decode(`http://${host}/`, true)), host)
      assert.isTrue(Result.isSuccess(decode(`https://${host}/`, true)), host)
    }
    for (const host of ["example.com", "a.localhost", "127.0.0.2", "10.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"]) {
      assert.isTrue(Result.isFailure(decode(`http://${host}/`, true)), host)
    }
    assert.isTrue(Result.isFailure(decode("https://10.0.0.1/", true)))
    assert.isTrue(Result.isFailure(decode("http://localhost:22/", true)))
  })

  it.prop("every text gets an answer, and a stored URL is accepted again unchanged", [Schema.String], ([text]) => {
    const once = decode(`https://${text}`)
    if (Result.isFailure(once)) return
    assert.deepStrictEqual(Result.getOrNull<unknown, unknown>(decode(once.success)), once.success)
  })
})
