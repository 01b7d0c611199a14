import type { errors as english } from "../en/errors.ts"

/** What pages say of errors. `error.<type>` is the text of that `error.type`. */
export const errors: Readonly<Record<keyof typeof english, string>> = {
  "problem.missing.title": "Diese Seite gibt es nicht",
  "problem.missing.text": "Vielleicht wurde sie gelöscht, oder sie gehört zu einem anderen Konto.",
  "problem.signedOut.title": "Sie sind abgemeldet",
  "problem.signedOut.text":
    "Nichts wurde gesendet. Diese Seite behält, was Sie geschrieben haben. Melden Sie sich auf einer neuen Seite an, und kommen Sie dann hierher zurück.",
  "problem.signedOut.back": "Zurück zum Formular",
  "problem.forbidden.title": "Ihre Rolle erlaubt das nicht",
  "problem.forbidden.text": "Ihre Rolle in diesem Konto: {role}. Nötig ist eine dieser Rollen: {roles}.",
  "problem.forbidden.people": "Diese Personen haben eine solche Rolle:",
  "problem.tooFast.title": "Zu viele Anfragen",
  "problem.tooFast.text": "Versuchen Sie es in {seconds, plural, one {# Sekunde} other {# Sekunden}} erneut.",
  "problem.away.title": "Der Dienst antwortet im Moment nicht",
  "problem.away.text": "Nichts ist verloren. Laden Sie diese Seite in einigen Sekunden neu.",
  "problem.broken.title": "Auf unserer Seite ist etwas schiefgegangen",
  "problem.broken.text": "Der Fehler wurde protokolliert. Die ID der Anfrage ist {id}.",
  "problem.crossSite.title": "Dieses Formular kam von einer anderen Website, oder seine Seite ist zu alt",
  "problem.crossSite.text": "Nichts wurde geändert. Prüfen Sie die Werte unten und senden Sie sie erneut.",
  "problem.home": "Zur Startseite",
  "error.validation_error": "Einige Felder sind ungültig.",
  "error.internal_error": "Auf unserer Seite ist etwas schiefgegangen. Versuchen Sie es erneut.",
  "error.plan_limit_exceeded":
    "Das Limit ist erreicht: {current, number} von {limit, number} sind verbraucht. Entfernen Sie eines, bitten Sie den Betreiber um einen größeren Tarif, oder warten Sie, bis das Limit neu beginnt.",
  "error.email_quota_exceeded":
    "{current, number} von {limit, number} E-Mails sind verbraucht, und diese Sendung hat mehr Empfänger, als übrig sind. Bitten Sie den Betreiber um einen größeren Tarif, oder warten Sie, bis das Kontingent neu beginnt.",
  "error.insufficient_permission": "Ihre Rolle erlaubt das nicht. Wenden Sie sich an einen Inhaber oder Administrator.",
  "error.fresh_login_required":
    "Ihre Anmeldung liegt dafür zu lange zurück. Melden Sie sich erneut an, oder wählen Sie ein früheres Ende für den Schlüssel.",
  "error.live_key_required": "Das geht im Testmodus nicht. Wechseln Sie in den Echtbetrieb.",
  "error.rate_limit_exceeded": "Es wurden zu viele Anfragen gesendet.",
  "error.not_found":
    "Worum es in diesem Formular geht, gibt es nicht mehr. Laden Sie die Seite neu, und wählen Sie etwas anderes.",
  "error.invalid_from_domain":
    "Die Domain des Absenders ist nicht verifiziert. Verifizieren Sie sie unter „Domains“, oder lassen Sie den Absender leer.",
  "error.message_over": "Das ist schon gesendet oder beendet. Gehen Sie zurück, um zu sehen, was daraus wurde.",
  "error.complaint_not_removable":
    "Der Empfänger hat Ihre E-Mail als Spam gemeldet, darum bleibt diese Adresse auf der Sperrliste. Schreiben Sie nicht an sie.",
  "error.unsupported_destination":
    "In dieses Land werden keine SMS gesendet. Prüfen Sie die Nummer, oder bitten Sie den Betreiber um einen Preis dafür.",
  "error.otp_limit": "An diesen Empfänger oder an benachbarte Nummern wurden zu viele Codes gesendet.",
  "error.verification_blocked":
    "Codes an diese Nummern sind gesperrt, weil fast keiner eingegeben wurde. Entsperren Sie sie auf der Seite der Einmalcodes, oder warten Sie.",
  "error.country_not_allowed":
    "Dieser Dienst sendet keine Codes in dieses Land. Bitten Sie den Betreiber, es hinzuzufügen.",
  "error.subscription_required": "Die kostenlose Testphase enthält das nicht. Bitten Sie den Betreiber um einen Tarif.",
  "error.subscription_expired":
    "Die kostenlose Testphase ist zu Ende. Bitten Sie den Betreiber um einen Tarif, um wieder zu senden.",
  "error.address_unconfirmed":
    "Die E-Mail-Adresse dieses Kontos ist nicht bestätigt. Öffnen Sie den Link in der E-Mail, die dorthin gesendet wurde.",
  "error.channel_unavailable":
    "Dieser Kanal kann zurzeit keine Codes senden. Wählen Sie einen anderen Kanal, oder versuchen Sie es später.",
  "error.verification_not_found": "Es gibt keinen Code zu prüfen: Er wurde schon verwendet. Senden Sie einen neuen.",
  "error.verification_expired": "Dieser Code ist abgelaufen. Senden Sie einen neuen.",
  "error.max_attempts_exceeded": "Es wurden zu viele falsche Codes eingegeben. Senden Sie einen neuen.",
  "error.domain_already_exists":
    "Sie haben diese Domain schon hinzugefügt. Öffnen Sie sie in der Liste, um ihre Einträge zu sehen.",
  "error.key_maker_busy": "Es werden zu viele Domains auf einmal hinzugefügt.",
  "error.pairing_unavailable":
    "WhatsApp hat nicht rechtzeitig einen Code gesendet. Versuchen Sie es in einer Minute noch einmal.",
  "error.session_already_connected":
    "Diese Sitzung ist mit einem Telefon verbunden. Um ein anderes zu koppeln, melden Sie die Sitzung zuerst ab.",
  "error.session_not_connected":
    "Diese Sitzung ist nicht verbunden. Koppeln Sie ein Telefon, oder warten Sie, bis sie wieder verbunden ist.",
  "error.not_group_admin":
    "Nur Administratoren der Gruppe können das. Machen Sie die Nummer dieser Sitzung auf einem Telefon zum Administrator.",
  "error.media_gone": "Diese Datei ist nicht mehr verfügbar. Bitten Sie den Absender, sie noch einmal zu senden.",
  "error.service_unavailable":
    "Der Dienst kann das zurzeit nicht tun. Versuchen Sie es in einigen Sekunden noch einmal.",
  "error.storage_low":
    "Dem Dienst fehlt Speicherplatz, und er nimmt zurzeit nichts zum Senden an. Was er vorher angenommen hat, wird gesendet.",
  "error.daily_volume_exceeded":
    "Für heute wurden zu viele große E-Mails gesendet. Senden Sie eine kleinere, oder versuchen Sie es morgen.",
  "error.payload_too_large": "Das ist zu groß. Kürzen Sie es.",
  "error.webhook_not_active": "Dieser Webhook ist nicht aktiv. Aktivieren Sie ihn, und versuchen Sie es noch einmal.",
  "error.event_expired":
    "Der Inhalt dieses Ereignisses ist nicht mehr gespeichert, darum kann es nicht erneut gesendet werden.",
  "error.source_gone": "Die Texte dieser E-Mail sind nicht mehr gespeichert, daher hat sie keinen Quelltext.",
  "error.recovery_in_progress":
    "Das Nachholen für diesen Webhook läuft. Warten Sie auf das Ende, oder halten Sie es an.",
  "error.key_not_rotatable":
    "Ein anderer Schlüssel hat diesen ersetzt, oder er ist abgelaufen. Erstellen Sie einen anderen Schlüssel.",
  "error.recovery_ended": "Dieses Nachholen ist schon beendet.",
  "error.sandbox_closed": "Die Sandbox dieser Installation ist geschlossen. Verwenden Sie die URL Ihrer Anwendung.",
  "error.fault_limit":
    "{limit, number} geplante Fehler warten auf ihre Nachrichten. Senden Sie Testnachrichten, oder entfernen Sie die Fehler.",
  "error.login_paused": "Es wurden zu viele falsche Passwörter oder Codes eingegeben.",
  "error.token_expired": "Dieser Link wurde schon verwendet oder ist abgelaufen. Fordern Sie einen neuen an.",
  "error.email_taken": "Ein Konto hat diese E-Mail-Adresse bereits. Wählen Sie eine andere.",
  "error.email_change_limit": "Es wurden zu viele neue Adressen angefordert.",
  "error.idempotency_key_reused":
    "Dieses Formular wurde schon mit anderen Werten gesendet. Laden Sie die Seite neu, und senden Sie es dann.",
  "error.idempotency_in_progress":
    "Dieses Formular wurde eben gesendet. Warten Sie eine Sekunde, und sehen Sie nach, ob es erledigt ist.",
  "error.other": "Der Dienst hat das abgelehnt. Er sagt auf Englisch: {detail}"
}
