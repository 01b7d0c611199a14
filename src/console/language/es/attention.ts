import type { attention as english } from "../en/attention.ts"

/** What needs attention: a sentence and a button for each kind. */
export const attention: Readonly<Record<keyof typeof english, string>> = {
  "attention.since": "Desde el {time}.",
  "attention.webhook_unhealthy": "El webhook {name} tiene fallos. No recibe eventos nuevos.",
  "attention.webhook_unhealthy.button": "Abrir el webhook",
  "attention.webhook_failing": "El webhook {name} está fallando ahora. Sus eventos se envían de nuevo.",
  "attention.webhook_failing.button": "Abrir el webhook",
  "attention.session_failed": "La sesión de WhatsApp {name} se ha detenido. Vincule de nuevo su teléfono.",
  "attention.session_failed.button": "Abrir la sesión",
  "attention.session_disconnected": "La sesión de WhatsApp {name} está desconectada.",
  "attention.session_disconnected.button": "Abrir la sesión",
  "attention.session_unpaired": "La sesión de WhatsApp {name} espera un teléfono.",
  "attention.session_unpaired.button": "Mostrar el código QR",
  "attention.domain_lost": "Un registro DNS del dominio de envío {name} falta o no es correcto.",
  "attention.domain_lost.button": "Abrir el dominio",
  "attention.domain_pending": "El dominio de envío {name} todavía no está verificado.",
  "attention.domain_pending.button": "Abrir el dominio",
  "attention.bounces_high": "Muchos correos de las últimas 24 horas rebotaron. Quite las direcciones que no existen.",
  "attention.bounces_high.button": "Mostrar los correos rebotados",
  "attention.complaints_high": "Muchos correos de las últimas 24 horas se marcaron como spam.",
  "attention.complaints_high.button": "Mostrar las quejas",
  "attention.quota_reached": "La cuota del mes está agotada: {name}.",
  "attention.quota_reached.button": "Mostrar el consumo",
  "attention.quota_near": "Se ha usado más del 80 por ciento de una cuota: {name}.",
  "attention.quota_near.button": "Mostrar el consumo",
  "attention.trial_ending": "La prueba gratuita termina en menos de 24 horas.",
  "attention.trial_ending.button": "Mostrar el consumo",
  "attention.relay_away":
    "El servidor de salida no responde. No se pierde nada: los correos esperan y se envían cuando vuelva.",
  "attention.relay_away.button": "Mostrar los mensajes en espera",
  "attention.carrier_away":
    "La operadora móvil no responde. No se pierde nada: los SMS esperan y se envían cuando vuelva.",
  "attention.carrier_away.button": "Mostrar los mensajes en espera",
  "attention.queue_late":
    "Los mensajes por {name} esperan desde hace más de un minuto. Puede que el servidor de salida o la operadora móvil no responda.",
  "attention.queue_late.whatsapp":
    "Hay mensajes de WhatsApp que esperan desde hace más de un minuto. Puede que su sesión esté desconectada o haya alcanzado su límite.",
  "attention.queue_late.button": "Mostrar los mensajes en espera",
  "attention.codes_late":
    "Los códigos de un solo uso por {name} esperan desde hace más de 10 segundos. Puede que el servidor de salida o la operadora móvil no responda.",
  "attention.codes_late.whatsapp":
    "Los códigos de un solo uso por WhatsApp esperan desde hace más de 10 segundos. Puede que su sesión esté desconectada o haya alcanzado su límite.",
  "attention.codes_late.button": "Mostrar los códigos",
  "attention.codes_blocked": "Los códigos a números que empiezan por {name} se retienen por probable fraude.",
  "attention.codes_blocked.button": "Mostrar los números bloqueados",
  "attention.key_expiring": "La clave de API {name} caduca en menos de siete días.",
  "attention.key_expiring.button": "Abrir las claves",
  "attention.key_unused": "La clave de API {name} no se ha usado en 90 días.",
  "attention.key_unused.button": "Abrir las claves",
  "attention.no_second_factor": "El propietario inicia sesión solo con una contraseña.",
  "attention.no_second_factor.button": "Añadir un segundo factor"
}
