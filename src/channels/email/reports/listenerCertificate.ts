import { Effect, FileSystem, Schedule } from "effect"
import { createSecureContext } from "node:tls"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { WrongSetting } from "../../../platform/config/Setting.ts"

/** A certificate chain and its key, in PEM form. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

const unusable = (name: string, value: string) =>
  new WrongSetting({
    name,
    value,
    expects: "a PEM file, the certificate with its chain and the key that belongs to it"
  })

const readText = Effect.fnUntraced(function*(name: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(path), () => unusable(name, path))
})

/** What the listener for bounces proves itself with, where it is set; fails when the two files do not fit together. */
export const listenerCertificate = Effect.gen(function*() {
  const { bounceTlsCertFile: certFile = "", bounceTlsKeyFile: keyFile = "" } = yield* AppConfig
  if (certFile === "" && keyFile === "") return undefined
  const cert = yield* readText("BOUNCE_TLS_CERT_FILE", certFile)
  const key = yield* readText("BOUNCE_TLS_KEY_FILE", keyFile)
  yield* Effect.try({
    try: () => createSecureContext({ cert, key }),
    catch: () => unusable("BOUNCE_TLS_CERT_FILE", certFile)
  })
  return { cert, key }
})

/**
 * Looks every minute for another certificate in the files, for ever, as certificates are renewed under a running node.
 * One that cannot be used is told of and changes nothing, as the two files may be written one after the other.
 */
export const renewed = (first: Certificate, use: (certificate: Certificate) => void) => {
  let current = first
  const look = Effect.gen(function*() {
    const found = yield* listenerCertificate
    if (found === undefined || (found.cert === current.cert && found.key === current.key)) return
    current = found
    yield* Effect.sync(() => use(found))
    yield* Effect.logInfo("the listener for bounces has its new certificate")
  }).pipe(
    Effect.catch((error) => Effect.logWarning("the certificate of the listener for bounces stays as it was", error))
  )
  return Effect.repeat(Effect.delay(look, "1 minute"), Schedule.forever)
}
