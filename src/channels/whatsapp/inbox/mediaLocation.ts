import type { MediaPart } from "./inboundMessage.ts"

const loopback: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"])

const defaultHost = "mmg.whatsapp.net"

const isWhatsApp = ({ hostname, port, protocol }: URL) =>
  protocol === "https:" && port === "" && hostname.endsWith(".whatsapp.net")

/**
 * Where the file of a message lies. What a stranger writes into a message leads to WhatsApp's own hosts and nowhere else;
 * beside the real WhatsApp there are those of this machine, where a simulated one has its files.
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
