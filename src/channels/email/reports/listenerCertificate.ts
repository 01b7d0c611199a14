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
    expects: "a PEM file with the certificate and its chain, and match the key"
  })

const readText = Effect.fnUntraced(function*(name: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(fs.readFileString(path), () => unusable(name, path))
})

/** The bounce listener's certificate, if one is set. Fails if the certificate and the key do not match. */
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
 * Checks the files for a renewed certificate every minute, for ever. An invalid one is logged and ignored, because the
 * two files may be written one after the other.
 */
export const watchCertificate = (first: Certificate, use: (certificate: Certificate) => void) => {
  let current = first
  const check = Effect.gen(function*() {
    const found = yield* listenerCertificate
    if (found === undefined || (found.cert === current.cert && found.key === current.key)) return
    current = found
    yield* Effect.sync(() => use(found))
    yield* Effect.logInfo("bounce listener reloaded its certificate")
  }).pipe(
    Effect.catch((error) => Effect.logWarning("reloading the bounce listener's certificate failed", error))
  )
  return Effect.repeat(Effect.delay(check, "1 minute"), Schedule.forever)
}
