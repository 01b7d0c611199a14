import type { MediaPart } from "./inboundMessage.ts"

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

const defaultHost = "mmg.whatsapp.net"

const isWhatsApp = ({ hostname, port, protocol }: URL) =>
  protocol === "https:" && port === "" && hostname.endsWith(".whatsapp.net")

/**
 * The URL of a message's file. A stranger wrote the message, so only WhatsApp's own hosts are allowed, and this machine's
 * hosts if WhatsApp is simulated.
 */
export const mediaLocation = ({ directPath, url }: MediaPart, isLive: boolean): string | undefined => {
  const given = URL.parse(url) ?? undefined
  if (directPath.startsWith("/")) {
    const host = given !== undefined && isWhatsApp(given) ? given.hostname : defaultHost
    const whole = URL.parse(`https://${host}${directPath}`) ?? undefined
    return whole !== undefined && isWhatsApp(whole) ? whole.href : undefined
  }
  if (given === undefined) return undefined
  const isHere = !isLive && given.protocol === "http:" && loopback.has(given.hostname)
  return isWhatsApp(given) || isHere ? given.href : undefined
}
