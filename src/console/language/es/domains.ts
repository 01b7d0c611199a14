import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Dominios",
  "domains.title": "Dominios de envío",
  "domains.lead": "El correo de su propio dominio necesita registros en el DNS. El servicio los comprueba.",
  "domains.caption": "Dominios de envío de esta cuenta",
  "domains.new": "Añadir un dominio",
  "domains.domain": "Dominio",
  "domains.domainHint": "Un dominio que le pertenece, por ejemplo example.com. Un subdominio se añade por separado.",
  "domains.status": "Estado",
  "domains.status.pending": "no verificado",
  "domains.status.verified": "verificado",
  "domains.warnings": "Por mejorar",
  "domains.warningCount": "{count, plural, one {# advertencia} other {# advertencias}}",
  "domains.checked": "Última comprobación",
  "domains.created": "Añadido",
  "domains.empty.title": "Todavía no hay dominios de envío",
  "domains.empty.text": "Mientras no añada ninguno, el correo sale de la dirección de este servicio.",
  "domains.add.title": "Añadir un dominio de envío",
  "domains.add.button": "Añadir el dominio",
  "domains.added": "Se añadió el dominio. Publique sus registros y después compruébelo.",
  "domains.state.pending": "El correo de este dominio se rechaza hasta que DKIM y SPF estén verificados.",
  "domains.state.verified": "Puede enviar desde este dominio.",
  "domains.check": "Comprobar ahora",
  "domains.check.done": "Se comprobaron los registros.",
  "domains.records": "Registros DNS",
  "domains.required": "obligatorio",
  "domains.advised": "recomendado",
  "domains.record.unchecked": "sin comprobar todavía",
  "domains.record.verified": "verificado",
  "domains.record.missing": "falta",
  "domains.record.mismatch": "otro valor",
  "domains.record.conflict": "demasiados registros",
  "domains.record.temporary_error": "sin respuesta del DNS",
  "domains.record.type": "Tipo",
  "domains.record.name": "Nombre",
  "domains.record.short": "Nombre, para proveedores de DNS que añaden el dominio",
  "domains.record.value": "Valor",
  "domains.record.found": "Lo que hay en el DNS",
  "domains.record.nothing": "no existe ese registro",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Los servidores de destino comprueban con él que el correo es suyo.",
  "domains.purposeText.SPF": "Permite que este servicio envíe en nombre de su dominio.",
  "domains.purposeText.DMARC":
    "Indica a los servidores de destino qué hacer con el correo falsificado. Los grandes proveedores piden uno.",
  "domains.purposeText.MX":
    "Dirige las respuestas a un servidor de correo. Omítalo si su dominio recibe el correo en otro lugar.",
  "verdict.spf.missing": "No hay registro SPF. Publique este. Puede tardar unos minutos en ser visible.",
  "verdict.spf.several": "Hay {count} registros SPF, lo que los invalida todos. Conserve solo uno: {record}",
  "verdict.spf.add":
    "El registro SPF no incluye el host. No añada un segundo registro SPF. Cambie el existente por: {record}",
  "verdict.spf.target": "{name}, el destino de redirect=, tiene {count} registros SPF. Conserve solo uno.",
  "verdict.spf.redirect":
    "Ni este registro ni el de {name} incluye el host. No añada un segundo registro SPF. Cambie el existente por: {record}",
  "verdict.dkim.missing": "No hay registro TXT. Publique este. Puede tardar unos minutos en ser visible.",
  "verdict.dkim.none": "Hay un registro TXT, pero ninguna clave DKIM. Publique exactamente el valor de este registro.",
  "verdict.dkim.several": "Hay {count} claves DKIM. Elimine todas menos la que tiene este valor.",
  "verdict.dkim.tags":
    "El registro no es una lista DKIM de nombres y valores. Publique exactamente el valor de este registro, sin comillas.",
  "verdict.dkim.version": "Su versión no es DKIM1. Publique exactamente el valor de este registro.",
  "verdict.dkim.type": "Su tipo de clave no es rsa. Publique exactamente el valor de este registro.",
  "verdict.dkim.sha256": "No permite SHA-256. Publique exactamente el valor de este registro.",
  "verdict.dkim.email": "No permite la clave para el correo. Publique exactamente el valor de este registro.",
  "verdict.dkim.revoked":
    "Su clave está vacía, lo que la marca como revocada. Publique exactamente el valor de este registro.",
  "verdict.dkim.base64":
    "Su clave no es base64 válido. Publique exactamente el valor de este registro, sin comillas ni saltos de línea.",
  "verdict.dkim.other":
    "Su clave no es la de este dominio, o se cortó. Publique exactamente el valor de este registro.",
  "verdict.dmarc.missing":
    "No hay registro DMARC. No es obligatorio, pero Gmail y Yahoo lo exigen a quien envía correo masivo. Publique este.",
  "verdict.dmarc.policy": "El registro DMARC no tiene una política válida. Ponga p=none o publique este registro.",
  "verdict.dmarc.several": "Hay {count} registros DMARC, lo que los invalida todos. Conserve solo uno.",
  "verdict.mx.missing": "No hay registro MX. No es obligatorio. Este servicio no recibe respuestas.",
  "verdict.mx.address": "El registro MX nombra {host}, que no tiene dirección. Dele un registro A o AAAA.",
  "verdict.mx.none":
    "El registro MX indica que este dominio no acepta correo. No es obligatorio. Este servicio no recibe respuestas.",
  "verdict.mx.elsewhere":
    "El correo dirigido a este dominio va a otro servidor, lo cual está bien. El registro no es obligatorio. Este servicio no recibe respuestas.",
  "verdict.unanswered":
    "El DNS no respondió. Esto no dice nada del registro. Compruébelo de nuevo en unos minutos. ({reason})",
  "verdict.warning.dkim":
    "La clave DKIM no está publicada correctamente. Los servidores de destino no pueden comprobar las firmas, y Gmail y Yahoo rechazan el correo masivo sin ellas.",
  "verdict.warning.spf": "Ningún registro SPF incluye este servicio. Sin él, Gmail y Yahoo rechazan el correo masivo.",
  "verdict.warning.dmarc":
    "No hay ninguna política DMARC. Sin ella, Gmail y Yahoo rechazan el correo masivo; basta p=none.",
  "domains.zone": "Todos los registros como archivo de zona",
  "domains.tracking": "Seguimiento de aperturas y clics",
  "domains.tracking.text": "Vale para el correo que se acepte desde ahora. Una solicitud puede indicar lo contrario.",
  "domains.tracking.opens": "Seguir las aperturas",
  "domains.tracking.clicks": "Seguir los clics",
  "domains.tracking.done": "Se cambió el seguimiento.",
  "domains.delete": "Eliminar",
  "domains.delete.title": "¿Eliminar {domain}?",
  "domains.delete.text":
    "A partir de entonces se rechaza el correo de este dominio y se borra su clave. Si añade el dominio de nuevo, recibe una clave nueva, con un registro nuevo que publicar. Esta acción no se puede deshacer.",
  "domains.delete.typed": "Escriba el dominio",
  "domains.delete.button": "Eliminar el dominio",
  "domains.delete.done": "Se eliminó el dominio."
}
