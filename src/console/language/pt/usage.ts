import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Consumo",
  "usage.title": "Consumo",
  "usage.lead": "O que esta conta enviou e quanto custa. Os dias são em UTC.",
  "usage.quotas": "Cotas",
  "usage.unused": "Restante",
  "usage.used": "{used} de {limit} usados",
  "usage.unlimited": "{used} usados, sem limite",
  "usage.left": "Restam {left} até {time}",
  "usage.runsOut": "No ritmo deste mês, ela se esgota em {day}.",
  "usage.table": "Consumo deste período",
  "usage.untilHint": "Este dia não é contado.",
  "usage.wrong": "Este período não serve. O fim deve vir depois do início, no máximo um ano depois.",
  "usage.granularity": "Agrupar por",
  "usage.day": "Dias",
  "usage.week": "Semanas",
  "usage.month": "Meses",
  "usage.date": "Início",
  "usage.metric": "O quê",
  "usage.count": "Quantidade",
  "usage.cost": "Custo (USD)",
  "usage.export": "Exportar como CSV",
  "usage.empty.title": "Não há consumo neste período",
  "usage.empty.text": "As mensagens aparecem aqui assim que são aceitas.",
  "usage.metric.email": "Destinatários de e-mail",
  "usage.metric.email_sent": "E-mails repassados",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "Segmentos de SMS",
  "usage.metric.whatsapp": "Mensagens do WhatsApp",
  "usage.metric.otp": "Códigos de uso único"
}
