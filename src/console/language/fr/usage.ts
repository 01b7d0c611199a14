import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Consommation",
  "usage.title": "Consommation",
  "usage.lead": "Ce que ce compte a envoyé et ce que cela coûte. Les jours sont en UTC.",
  "usage.quotas": "Quotas",
  "usage.unused": "Restant",
  "usage.used": "{used} sur {limit} utilisés",
  "usage.unlimited": "{used} utilisés, sans limite",
  "usage.left": "{left} restants jusqu’au {time}",
  "usage.runsOut": "Au rythme de ce mois, il est épuisé le {day}.",
  "usage.table": "Consommation de cette période",
  "usage.untilHint": "Ce jour n’est pas compté.",
  "usage.wrong": "Cette période ne convient pas. La fin doit venir après le début, au plus un an plus tard.",
  "usage.granularity": "Regrouper par",
  "usage.day": "Jours",
  "usage.week": "Semaines",
  "usage.month": "Mois",
  "usage.date": "Début",
  "usage.metric": "Quoi",
  "usage.count": "Nombre",
  "usage.cost": "Coût (USD)",
  "usage.export": "Exporter en CSV",
  "usage.empty.title": "Aucune consommation pendant cette période",
  "usage.empty.text": "Les messages apparaissent ici dès qu’ils sont acceptés.",
  "usage.metric.email": "Destinataires d’e-mails",
  "usage.metric.email_sent": "E-mails remis",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "Segments SMS",
  "usage.metric.whatsapp": "Messages WhatsApp",
  "usage.metric.otp": "Codes à usage unique"
}
