import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Domains",
  "domains.title": "Absenderdomains",
  "domains.lead": "E-Mails von Ihrer eigenen Domain brauchen Einträge im DNS. Der Dienst prüft sie.",
  "domains.caption": "Absenderdomains dieses Kontos",
  "domains.new": "Domain hinzufügen",
  "domains.domain": "Domain",
  "domains.domainHint":
    "Eine Domain, die Ihnen gehört, zum Beispiel example.com. Eine Subdomain fügen Sie gesondert hinzu.",
  "domains.status": "Status",
  "domains.status.pending": "nicht verifiziert",
  "domains.status.verified": "verifiziert",
  "domains.warnings": "Zu verbessern",
  "domains.warningCount": "{count, plural, one {# Warnung} other {# Warnungen}}",
  "domains.checked": "Letzte Prüfung",
  "domains.created": "Hinzugefügt",
  "domains.empty.title": "Noch keine Absenderdomain",
  "domains.empty.text": "Solange Sie keine hinzufügen, werden E-Mails von der Adresse dieses Dienstes gesendet.",
  "domains.add.title": "Absenderdomain hinzufügen",
  "domains.add.button": "Domain hinzufügen",
  "domains.added": "Die Domain wurde hinzugefügt. Veröffentlichen Sie ihre Einträge und prüfen Sie sie dann.",
  "domains.state.pending": "E-Mails von dieser Domain werden abgelehnt, bis DKIM und SPF verifiziert sind.",
  "domains.state.verified": "Sie können von dieser Domain senden.",
  "domains.check": "Jetzt prüfen",
  "domains.check.done": "Die Einträge wurden geprüft.",
  "domains.records": "DNS-Einträge",
  "domains.required": "erforderlich",
  "domains.advised": "empfohlen",
  "domains.record.unchecked": "noch nicht geprüft",
  "domains.record.verified": "verifiziert",
  "domains.record.missing": "fehlt",
  "domains.record.mismatch": "anderer Wert",
  "domains.record.conflict": "zu viele Einträge",
  "domains.record.temporary_error": "keine Antwort vom DNS",
  "domains.record.type": "Typ",
  "domains.record.name": "Name",
  "domains.record.short": "Name, für DNS-Anbieter, die die Domain anhängen",
  "domains.record.value": "Wert",
  "domains.record.found": "Was im DNS steht",
  "domains.record.nothing": "kein solcher Eintrag",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Damit prüfen die Zielserver, dass die E-Mail von Ihnen stammt.",
  "domains.purposeText.SPF": "Erlaubt diesem Dienst, für Ihre Domain zu senden.",
  "domains.purposeText.DMARC":
    "Sagt den Zielservern, was mit gefälschten E-Mails geschieht. Große Anbieter verlangen diesen Eintrag.",
  "domains.purposeText.MX":
    "Leitet Antworten an einen Mailserver. Lassen Sie ihn weg, wenn Ihre Domain E-Mails anderswo empfängt.",
  "verdict.spf.missing":
    "Es gibt keinen SPF-Eintrag. Veröffentlichen Sie diesen. Es kann Minuten dauern, bis er sichtbar ist.",
  "verdict.spf.several": "Es gibt {count} SPF-Einträge, wodurch alle ungültig sind. Behalten Sie nur einen: {record}",
  "verdict.spf.add":
    "Der SPF-Eintrag enthält den Host nicht. Fügen Sie keinen zweiten SPF-Eintrag hinzu. Ändern Sie den vorhandenen in: {record}",
  "verdict.spf.target": "{name}, das Ziel von redirect=, hat {count} SPF-Einträge. Behalten Sie nur einen.",
  "verdict.spf.redirect":
    "Weder dieser Eintrag noch der von {name} enthält den Host. Fügen Sie keinen zweiten SPF-Eintrag hinzu. Ändern Sie den vorhandenen in: {record}",
  "verdict.dkim.missing":
    "Es gibt keinen TXT-Eintrag. Veröffentlichen Sie diesen. Es kann Minuten dauern, bis er sichtbar ist.",
  "verdict.dkim.none":
    "Es gibt einen TXT-Eintrag, aber keinen DKIM-Schlüssel. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.several": "Es gibt {count} DKIM-Schlüssel. Entfernen Sie alle außer dem mit diesem Wert.",
  "verdict.dkim.tags":
    "Der Eintrag ist keine DKIM-Liste von Namen und Werten. Veröffentlichen Sie genau den Wert dieses Eintrags, ohne Anführungszeichen.",
  "verdict.dkim.version": "Seine Version ist nicht DKIM1. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.type": "Sein Schlüsseltyp ist nicht rsa. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.sha256": "Er erlaubt SHA-256 nicht. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.email":
    "Er erlaubt den Schlüssel nicht für E-Mail. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.revoked":
    "Sein Schlüssel ist leer, was ihn als widerrufen kennzeichnet. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dkim.base64":
    "Sein Schlüssel ist kein gültiges Base64. Veröffentlichen Sie genau den Wert dieses Eintrags, ohne Anführungszeichen und Zeilenumbrüche.",
  "verdict.dkim.other":
    "Sein Schlüssel ist nicht der dieser Domain, oder er wurde abgeschnitten. Veröffentlichen Sie genau den Wert dieses Eintrags.",
  "verdict.dmarc.missing":
    "Es gibt keinen DMARC-Eintrag. Er ist nicht erforderlich, aber Gmail und Yahoo verlangen einen von Massenversendern. Veröffentlichen Sie diesen.",
  "verdict.dmarc.policy":
    "Der DMARC-Eintrag hat keine gültige Richtlinie. Setzen Sie p=none, oder veröffentlichen Sie diesen Eintrag.",
  "verdict.dmarc.several": "Es gibt {count} DMARC-Einträge, wodurch alle ungültig sind. Behalten Sie nur einen.",
  "verdict.mx.missing": "Es gibt keinen MX-Eintrag. Er ist nicht erforderlich. Dieser Dienst empfängt keine Antworten.",
  "verdict.mx.address": "Der MX-Eintrag nennt {host}, der keine Adresse hat. Geben Sie ihm einen A- oder AAAA-Eintrag.",
  "verdict.mx.none":
    "Der MX-Eintrag sagt, dass diese Domain keine E-Mails annimmt. Er ist nicht erforderlich. Dieser Dienst empfängt keine Antworten.",
  "verdict.mx.elsewhere":
    "E-Mails an diese Domain gehen an einen anderen Server, was in Ordnung ist. Der Eintrag ist nicht erforderlich. Dieser Dienst empfängt keine Antworten.",
  "verdict.unanswered":
    "Das DNS hat nicht geantwortet. Das sagt nichts über den Eintrag. Prüfen Sie in einigen Minuten erneut. ({reason})",
  "verdict.warning.dkim":
    "Der DKIM-Schlüssel ist nicht richtig veröffentlicht. Empfangende Server können Signaturen nicht prüfen, und Gmail und Yahoo lehnen Massenmails ohne sie ab.",
  "verdict.warning.spf": "Kein SPF-Eintrag schließt diesen Dienst ein. Ohne ihn lehnen Gmail und Yahoo Massenmails ab.",
  "verdict.warning.dmarc":
    "Es gibt keine DMARC-Richtlinie. Ohne sie lehnen Gmail und Yahoo Massenmails ab; p=none genügt.",
  "domains.zone": "Alle Einträge als Zonendatei",
  "domains.tracking": "Erfassung von Öffnungen und Klicks",
  "domains.tracking.text": "Gilt für E-Mails, die ab jetzt angenommen werden. Eine Anfrage kann davon abweichen.",
  "domains.tracking.opens": "Öffnungen erfassen",
  "domains.tracking.clicks": "Klicks erfassen",
  "domains.tracking.done": "Die Erfassung wurde geändert.",
  "domains.delete": "Löschen",
  "domains.delete.title": "{domain} löschen?",
  "domains.delete.text":
    "Danach werden E-Mails von dieser Domain abgelehnt, und ihr Schlüssel wird gelöscht. Fügen Sie die Domain erneut hinzu, erhält sie einen neuen Schlüssel mit einem neuen Eintrag, der zu veröffentlichen ist. Das lässt sich nicht rückgängig machen.",
  "domains.delete.typed": "Geben Sie die Domain ein",
  "domains.delete.button": "Domain löschen",
  "domains.delete.done": "Die Domain wurde gelöscht."
}
