import type { sms as english } from "../en/sms.ts"

/** The page of SMS: who carries texts, from which senders, at which prices. */
export const sms: Readonly<Record<keyof typeof english, string>> = {
  "nav.sms": "Expéditeurs et prix",
  "smsPage.title": "SMS",
  "smsPage.lead": "Qui transporte vos SMS, avec quels expéditeurs, et ce que chacun coûte.",
  "smsPage.provider": "Fournisseur",
  "smsPage.provider.sandbox": "le bac à sable : aucun SMS n’atteint un vrai téléphone",
  "smsPage.provider.smpp": "un opérateur mobile par SMPP",
  "smsPage.provider.http": "un fournisseur par HTTP",
  "smsPage.sandboxNote": "Les SMS vont au bac à sable. Le paramètre SMS_PROVIDER désigne un vrai fournisseur.",
  "smsPage.about": "Comment les SMS sont envoyés",
  "smsPage.senders": "Expéditeurs",
  "smsPage.anySender": "n’importe quel expéditeur",
  "smsPage.firstSender": "Un SMS sans expéditeur utilise le premier.",
  "smsPage.prices": "Prix",
  "smsPage.pricesCaption": "Prix d’un segment par pays",
  "smsPage.pricesText": "Un SMS de 160 caractères est un segment. Les autres alphabets ont 70 caractères par segment.",
  "smsPage.country": "Pays",
  "smsPage.prefix": "Indicatif",
  "smsPage.price": "Prix d’un segment",
  "smsPage.find": "Pays ou indicatif",
  "smsPage.search": "Rechercher",
  "smsPage.noPrice": "Aucun pays n’a ce nom ou cet indicatif. Un SMS vers lui est refusé.",
  "smsPage.send": "Envoyer un SMS",
  "smsPage.messages": "SMS"
}
