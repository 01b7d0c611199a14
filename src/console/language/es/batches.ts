import type { batches as english } from "../en/batches.ts"

/** Batches: one text to many recipients. */
export const batches: Readonly<Record<keyof typeof english, string>> = {
  "nav.batches": "Lotes",
  "batches.title": "Lotes",
  "batches.caption": "Lotes de este canal, del más reciente al más antiguo",
  "batches.channels": "Canales",
  "batches.id": "Lote",
  "batches.status": "Estado",
  "batches.total": "Destinatarios",
  "batches.failed": "Fallidos",
  "batches.progress": "Progreso",
  "batches.created": "Creado",
  "batches.completed": "Terminado",
  "batches.empty.title": "Todavía no hay lotes",
  "batches.empty.text":
    "Un lote envía un texto a un máximo de 500 destinatarios, cada uno con sus propios valores. La guía muestra la solicitud.",
  "batches.guide": "Leer la guía",
  "batch.status.scheduled": "programado",
  "batch.status.queued": "en cola",
  "batch.status.processing": "en curso",
  "batch.status.completed": "terminado",
  "batch.status.failed": "fallido",
  "batch.status.canceled": "cancelado",
  "batch.title": "Lote de {total, plural, one {# destinatario} other {# destinatarios}}",
  "batch.counts": "Progreso",
  "batch.pace": "{count} por minuto de media",
  "batch.paceLeft": "{count} por minuto. A este ritmo termina en {span}.",
  "batch.count.sent": "Enviados",
  "batch.count.queued": "En cola",
  "batch.count.failed": "Fallidos",
  "batch.count.suppressed": "Bloqueados",
  "batch.count.canceled": "Cancelados",
  "batch.running": "{left, plural, one {Queda # mensaje.} other {Quedan # mensajes.}}",
  "batch.fine": "Se han enviado todos los mensajes.",
  "batch.fineButCanceled":
    "{canceled, plural, one {Se canceló # mensaje} other {Se cancelaron # mensajes}}. Todos los demás se han enviado.",
  "batch.some":
    "{failed, plural, one {# de {total} mensajes no ha} other {# de {total} mensajes no han}} llegado al destinatario.",
  "batch.canceledAt":
    "El lote se canceló. Antes {sent, plural, one {se había enviado # mensaje} other {se habían enviado # mensajes}}.",
  "batch.failures": "Últimos fallos por motivo",
  "batch.count": "{count, plural, one {# mensaje} other {# mensajes}}",
  "batch.example": "Ejemplo",
  "batch.noReason": "no se indicó ningún motivo",
  "batch.noFailures": "Ningún mensaje ha fallado.",
  "batch.suppressedReason": "La dirección está en la lista de bloqueo.",
  "batch.messages": "Todos los mensajes del lote",
  "batch.facts": "Datos",
  "batch.cancel": "Cancelar el lote",
  "batch.cancel.title": "¿Cancelar este lote?",
  "batch.cancel.text":
    "{queued, plural, one {# mensaje está en espera y no se enviará} other {# mensajes están en espera y no se enviarán}}. Lo que ya se envió queda enviado. Esta acción no se puede deshacer.",
  "batch.cancel.done": "Se canceló el lote.",
  "batch.csv": "Destinatarios en CSV",
  "batch.again": "Reenviar a los fallidos",
  "batch.again.title": "¿Reenviar a los destinatarios a los que no llegó?",
  "batch.again.text":
    "Un lote nuevo les envía el mismo contenido. Los destinatarios de la lista de bloqueo no reciben nada. Funciona una vez por lote.",
  "batch.again.done": "Se aceptó el lote nuevo.",
  "batch.again.as": "Reenviado como"
}
