import type { usage as english } from "../en/usage.ts"

/** Usage and costs of an account. */
export const usage: Readonly<Record<keyof typeof english, string>> = {
  "nav.usage": "Consumo",
  "usage.title": "Consumo",
  "usage.lead": "Lo que esta cuenta ha enviado y lo que cuesta. Los días son de UTC.",
  "usage.quotas": "Cuotas",
  "usage.unused": "Restante",
  "usage.used": "{used} de {limit} usados",
  "usage.unlimited": "{used} usados, sin límite",
  "usage.left": "Quedan {left} hasta el {time}",
  "usage.runsOut": "Al ritmo de este mes se agota el {day}.",
  "usage.table": "Consumo de este periodo",
  "usage.untilHint": "Este día no se cuenta.",
  "usage.wrong": "Este periodo no sirve. El final debe ser posterior al comienzo, como máximo un año después.",
  "usage.granularity": "Agrupar por",
  "usage.day": "Días",
  "usage.week": "Semanas",
  "usage.month": "Meses",
  "usage.date": "Comienzo",
  "usage.metric": "Qué",
  "usage.count": "Cantidad",
  "usage.cost": "Coste (USD)",
  "usage.export": "Exportar como CSV",
  "usage.empty.title": "No hay consumo en este periodo",
  "usage.empty.text": "Los mensajes aparecen aquí en cuanto se aceptan.",
  "usage.metric.email": "Destinatarios de correo",
  "usage.metric.email_sent": "Correos entregados al servidor",
  "usage.metric.sms": "SMS",
  "usage.metric.sms_segments": "Segmentos de SMS",
  "usage.metric.whatsapp": "Mensajes de WhatsApp",
  "usage.metric.otp": "Códigos de un solo uso"
}
