import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Remetentes e preços",
  "smsPage.title": "SMS",
  "smsPage.lead": "Quem transporta os seus SMS, com quais remetentes, e quanto custa cada um.",
  "smsPage.provider": "Provedor",
  "smsPage.provider.sandbox": "o sandbox: nenhum SMS chega a um telefone real",
  "smsPage.provider.smpp": "uma operadora móvel por SMPP",
  "smsPage.provider.http": "um provedor por HTTP",
  "smsPage.sandboxNote": "Os SMS vão para o sandbox. A configuração SMS_PROVIDER indica um provedor real.",
  "smsPage.about": "Como os SMS são enviados",
  "smsPage.senders": "Remetentes",
  "smsPage.anySender": "qualquer remetente",
  "smsPage.firstSender": "Um SMS sem remetente usa o primeiro.",
  "smsPage.prices": "Preços",
  "smsPage.pricesCaption": "Preço de um segmento por país",
  "smsPage.pricesText": "Um SMS de 160 caracteres é um segmento. Outros alfabetos têm 70 caracteres por segmento.",
  "smsPage.country": "País",
  "smsPage.prefix": "Prefixo",
  "smsPage.price": "Preço de um segmento",
  "smsPage.find": "País ou prefixo",
  "smsPage.search": "Buscar",
  "smsPage.noPrice": "Nenhum país tem este nome ou prefixo. Um SMS para ele é recusado.",
  "smsPage.send": "Enviar um SMS",
  "smsPage.messages": "SMS"
}
