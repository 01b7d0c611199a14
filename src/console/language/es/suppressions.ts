import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Direcciones bloqueadas",
  "suppressions.title": "Direcciones bloqueadas",
  "suppressions.lead": "Direcciones que no reciben correo de esta cuenta.",
  "suppressions.caption": "Direcciones bloqueadas, de la más reciente a la más antigua",
  "suppressions.new": "Bloquear una dirección",
  "suppressions.email": "Dirección",
  "suppressions.reason": "Motivo",
  "suppressions.filter": "Bloqueos por motivo",
  "suppressions.all": "todos",
  "suppressions.q": "La dirección completa",
  "suppressions.reason.unsubscribe": "baja",
  "suppressions.reason.bounce": "rebote",
  "suppressions.reason.complaint": "queja por spam",
  "suppressions.reason.manual": "a mano",
  "suppressions.since": "Desde",
  "suppressions.source": "Mensaje",
  "suppressions.empty.title": "No hay direcciones bloqueadas",
  "suppressions.empty.text":
    "Es una buena señal. Las direcciones que rebotan, se quejan o se dan de baja aparecen aquí por sí mismas.",
  "suppressions.empty.filtered": "Ninguna dirección está bloqueada por este motivo.",
  "suppressions.empty.address": "Esta dirección no está bloqueada.",
  "suppressions.add.title": "Bloquear una dirección",
  "suppressions.add.hint": "El correo a esta dirección se detiene de inmediato, también el que ya se aceptó.",
  "suppressions.add.button": "Bloquear la dirección",
  "suppressions.added": "La dirección ya no recibe correo.",
  "suppressions.import": "Importar",
  "suppressions.import.title": "Importar direcciones",
  "suppressions.import.list": "Direcciones",
  "suppressions.import.hint":
    "Una dirección por línea. De un archivo CSV cuenta la primera columna. Las direcciones bloqueadas conservan su motivo.",
  "suppressions.import.wrong": "No se importó nada: {address} no es una dirección de correo.",
  "suppressions.import.left": "Se importaron {done} de {total} direcciones. La lista tiene ahora las demás.",
  "suppressions.imported": "Las direcciones ya no reciben correo.",
  "suppressions.remove": "Quitar",
  "suppressions.removeNamed": "Quitar el bloqueo de {email}",
  "suppressions.remove.title": "¿Quitar el bloqueo?",
  "suppressions.remove.text": "El correo nuevo vuelve a enviarse a {email}. Los mensajes bloqueados siguen bloqueados.",
  "suppressions.remove.bounce":
    "Esta dirección rebotó. Si rebota otra vez, los servidores de destino confiarán menos en su dominio.",
  "suppressions.remove.unsubscribe": "Esta persona se dio de baja. Escríbale solo si lo ha pedido de nuevo.",
  "suppressions.remove.button": "Quitar el bloqueo",
  "suppressions.removed": "Se quitó el bloqueo."
}
