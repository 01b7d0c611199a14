import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Remitentes y precios",
  "smsPage.title": "SMS",
  "smsPage.lead": "Quién transporta sus SMS, con qué remitentes y cuánto cuesta cada uno.",
  "smsPage.provider": "Proveedor",
  "smsPage.provider.sandbox": "el sandbox: ningún SMS llega a un teléfono real",
  "smsPage.provider.smpp": "una operadora móvil por SMPP",
  "smsPage.provider.http": "un proveedor por HTTP",
  "smsPage.sandboxNote": "Los SMS van al sandbox. El ajuste SMS_PROVIDER indica un proveedor real.",
  "smsPage.about": "Cómo se envían los SMS",
  "smsPage.senders": "Remitentes",
  "smsPage.anySender": "cualquier remitente",
  "smsPage.firstSender": "Un SMS sin remitente usa el primero.",
  "smsPage.prices": "Precios",
  "smsPage.pricesCaption": "Precio de un segmento por país",
  "smsPage.pricesText": "Un SMS de 160 caracteres es un segmento. Otros alfabetos tienen 70 caracteres por segmento.",
  "smsPage.country": "País",
  "smsPage.prefix": "Prefijo",
  "smsPage.price": "Precio de un segmento",
  "smsPage.find": "País o prefijo",
  "smsPage.search": "Buscar",
  "smsPage.noPrice": "Ningún país tiene este nombre o prefijo. Un SMS a ese destino se rechaza.",
  "smsPage.send": "Enviar un SMS",
  "smsPage.messages": "SMS"
}
