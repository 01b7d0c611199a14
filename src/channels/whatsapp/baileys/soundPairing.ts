import { childrenOf, type Stanza } from "../wire/Stanza.ts"

/** A device as WhatsApp names it: digits, the number of the device, and a server of WhatsApp's. */
const aDevice = /^\d{1,20}(:\d{1,5})?@[a-z.]+$/

const within = (stanza: Stanza, tag: string) => childrenOf(stanza).find((child) => child.tag === tag)

const isText = ({ content }: Stanza): boolean =>
  (typeof content === "string" || content instanceof Uint8Array) && content.length > 0

/** Whether there are codes, each of which says something. */
export const hasCodes = (stanza: Stanza): boolean => {
  const inner = within(stanza, "pair-device")
  const refs = inner === undefined ? [] : childrenOf(inner).filter(({ tag }) => tag === "ref")
  return refs.length > 0 && refs.every(isText)
}

/** Whether the new device has the names that it will log in by. */
export const namesDevice = (stanza: Stanza): boolean => {
  const inner = within(stanza, "pair-success")
  const { jid = "", lid } = (inner === undefined ? undefined : within(inner, "device"))?.attrs ?? {}
  return aDevice.test(jid) && (lid === undefined || aDevice.test(lid))
}
