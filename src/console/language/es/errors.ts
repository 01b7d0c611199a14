import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Esta página no existe",
  "problem.missing.text": "Puede que se haya eliminado o que pertenezca a otra cuenta.",
  "problem.signedOut.title": "Su sesión está cerrada",
  "problem.signedOut.text":
    "No se envió nada. Esta página conserva lo que escribió. Inicie sesión en una página nueva y luego vuelva a esta.",
  "problem.signedOut.back": "Volver al formulario",
  "problem.forbidden.title": "Su rol no lo permite",
  "problem.forbidden.text": "Su rol en esta cuenta es: {role}. Se necesita uno de estos roles: {roles}.",
  "problem.forbidden.people": "Estas personas tienen uno de esos roles:",
  "problem.tooFast.title": "Demasiadas solicitudes",
  "problem.tooFast.text": "Inténtelo de nuevo en {seconds, plural, one {# segundo} other {# segundos}}.",
  "problem.away.title": "El servicio no responde en este momento",
  "problem.away.text": "No se ha perdido nada. Vuelva a cargar esta página dentro de unos segundos.",
  "problem.broken.title": "Algo ha fallado por nuestra parte",
  "problem.broken.text": "El error se registró. El id. de su solicitud es {id}.",
  "problem.crossSite.title": "Este formulario vino de otro sitio, o su página es demasiado antigua",
  "problem.crossSite.text": "No se cambió nada. Compruebe los valores de abajo y envíelos de nuevo.",
  "problem.home": "Ir a la página de inicio",
  "error.validation_error": "Algunos campos no son válidos.",
  "error.internal_error": "Algo ha fallado por nuestra parte. Inténtelo de nuevo.",
  "error.plan_limit_exceeded":
    "Se alcanzó el límite: {current, number} de {limit, number} en uso. Elimine uno, pida un plan mayor al operador o espere a que el límite se reinicie.",
  "error.email_quota_exceeded":
    "Se usaron {current, number} de {limit, number} correos, y este envío tiene más destinatarios de los que quedan. Pida un plan mayor al operador o espere a que la cuota se reinicie.",
  "error.insufficient_permission": "Su rol no lo permite. Pídalo a un propietario o a un administrador.",
  "error.fresh_login_required":
    "Inició sesión hace demasiado tiempo. Vuelva a iniciar sesión o elija una caducidad más próxima para la clave.",
  "error.live_key_required": "No es posible en modo de prueba. Cambie al modo real.",
  "error.rate_limit_exceeded": "Se enviaron demasiadas solicitudes.",
  "error.not_found": "Lo que indica este formulario ya no existe. Vuelva a cargar la página y elija otra cosa.",
  "error.invalid_from_domain":
    "El dominio del remitente no está verificado. Verifíquelo en «Dominios» o deje vacío el remitente.",
  "error.message_over": "Ya se envió o ya terminó. Vuelva atrás para ver qué pasó.",
  "error.complaint_not_removable":
    "El destinatario marcó su correo como spam, así que esta dirección sigue en la lista de bloqueo. No le escriba.",
  "error.unsupported_destination":
    "No se envían SMS a este país. Revise el número o pida al operador que añada un precio.",
  "error.otp_limit": "Se enviaron demasiados códigos a este destinatario o a números cercanos.",
  "error.verification_blocked":
    "Los códigos a estos números están bloqueados, porque casi ninguno se introdujo. Desbloquéelos en la página de códigos de un solo uso o espere.",
  "error.country_not_allowed": "Este servicio no envía códigos a este país. Pida al operador que lo añada.",
  "error.subscription_required": "La prueba gratuita no incluye esto. Pida un plan al operador.",
  "error.subscription_expired": "La prueba gratuita terminó. Pida un plan al operador para volver a enviar.",
  "error.address_unconfirmed":
    "La dirección de correo de esta cuenta no está confirmada. Abra el enlace del correo que se le envió.",
  "error.channel_unavailable": "Este canal no puede enviar códigos ahora. Elija otro canal o inténtelo más tarde.",
  "error.verification_not_found": "No hay ningún código que comprobar: ya se usó. Envíe uno nuevo.",
  "error.verification_expired": "Este código ha caducado. Envíe uno nuevo.",
  "error.max_attempts_exceeded": "Se introdujeron demasiados códigos incorrectos. Envíe uno nuevo.",
  "error.domain_already_exists": "Ya añadió este dominio. Ábralo en la lista para ver sus registros.",
  "error.key_maker_busy": "Se están añadiendo demasiados dominios a la vez.",
  "error.pairing_unavailable": "WhatsApp no envió ningún código a tiempo. Inténtelo de nuevo en un minuto.",
  "error.session_already_connected":
    "Esta sesión está conectada a un teléfono. Para vincular otro, cierre primero la sesión.",
  "error.session_not_connected":
    "Esta sesión no está conectada. Vincule un teléfono o espere a que se conecte de nuevo.",
  "error.not_group_admin":
    "Solo los administradores del grupo pueden hacerlo. Nombre administrador al número de esta sesión, en un teléfono.",
  "error.media_gone": "Este archivo ya no está disponible. Pida al remitente que lo envíe de nuevo.",
  "error.service_unavailable": "El servicio no puede hacerlo en este momento. Inténtelo de nuevo en unos segundos.",
  "error.storage_low": "El servicio tiene poco almacenamiento y ahora no acepta envíos. Lo que aceptó antes se envía.",
  "error.daily_volume_exceeded": "Hoy hay demasiados correos grandes. Envíe uno más pequeño o inténtelo mañana.",
  "error.payload_too_large": "Es demasiado grande. Acórtelo.",
  "error.webhook_not_active": "Este webhook no está activo. Actívelo e inténtelo de nuevo.",
  "error.event_expired": "El contenido de este evento ya no se guarda, así que no se puede reenviar.",
  "error.source_gone": "Los textos de este correo ya no se conservan, por lo que no tiene código fuente.",
  "error.recovery_in_progress": "Hay una repetición de este webhook en curso. Espere a que termine o deténgala.",
  "error.key_not_rotatable": "Otra clave sustituyó a esta, o ya caducó. Cree otra clave.",
  "error.recovery_ended": "Esta repetición ya terminó.",
  "error.sandbox_closed": "El sandbox de esta instalación está cerrado. Use la URL de su aplicación.",
  "error.fault_limit":
    "{limit, number} fallos planificados esperan sus mensajes. Envíe mensajes de prueba o quite los fallos.",
  "error.login_paused": "Se introdujeron demasiadas contraseñas o códigos incorrectos.",
  "error.token_expired": "Este enlace ya se usó o ha caducado. Pida uno nuevo.",
  "error.email_taken": "Otra cuenta ya tiene esta dirección de correo. Elija otra.",
  "error.email_change_limit": "Se pidieron demasiadas direcciones nuevas.",
  "error.idempotency_key_reused": "Este formulario ya se envió con otros valores. Vuelva a cargar la página y envíelo.",
  "error.idempotency_in_progress": "Este formulario se acaba de enviar. Espere un segundo y mire si se hizo.",
  "error.other": "El servicio lo rechazó. Dice en inglés: {detail}"
}
