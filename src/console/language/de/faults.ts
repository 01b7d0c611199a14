import type { faults as english } from "../en/faults.ts"

/** What forms say of a field: what is wrong, and what to do. */
export const faults: Readonly<Record<keyof typeof english, string>> = {
  "fault.missing": "Dieses Feld ist erforderlich.",
  "fault.required":
    "Dieser Dienst hat keinen gemeinsamen Absender. Geben Sie eine Adresse einer verifizierten Domain ein.",
  "fault.text": "Geben Sie einen Text, HTML oder beides ein.",
  "fault.choice": "Wählen Sie einen dieser Werte: {values}.",
  "fault.once": "Wählen Sie jeden Wert nur einmal.",
  "fault.most": "Das ist zu lang. Verwenden Sie höchstens {most, number} Zeichen.",
  "fault.least": "Das ist zu kurz. Verwenden Sie mindestens {least, number} Zeichen.",
  "fault.filled": "Mit den eingesetzten Werten ist das zu lang. Verwenden Sie höchstens {most, number} Zeichen.",
  "fault.bytes": "Mit den eingesetzten Werten ist das zu groß. Verwenden Sie höchstens {most, number} Bytes.",
  "fault.line": "Schreiben Sie das in eine Zeile, ohne Zeilenumbrüche und Steuerzeichen.",
  "fault.characters": "Das enthält Zeichen, die nicht gesendet werden können. Geben Sie es ohne diese noch einmal ein.",
  "fault.entries": "Das sind zu viele Einträge. Verwenden Sie höchstens {most, number}.",
  "fault.email.at": "Geben Sie eine E-Mail-Adresse mit genau einem @ ein, zum Beispiel name@example.com.",
  "fault.email.one": "Das muss eine einzelne Adresse sein. Entfernen Sie Kommas und Semikolons.",
  "fault.email.bare": "Geben Sie nur die Adresse ein, zum Beispiel name@example.com, ohne Namen und spitze Klammern.",
  "fault.email.characters":
    "Die Adresse enthält ein unerlaubtes Zeichen, etwa ein Leerzeichen, einen Akzent, ein Anführungszeichen oder eine Klammer. Entfernen Sie es.",
  "fault.email.dots": "Vor dem @ darf kein Punkt am Anfang, am Ende oder doppelt stehen. Entfernen Sie ihn.",
  "fault.email.long": "Verwenden Sie vor dem @ höchstens {most, number} Zeichen.",
  "fault.email.domain": "Der Teil nach dem @ ist keine gültige Domain. Schreiben Sie ihn wie example.com.",
  "fault.email.channel":
    "Dieser Kanal braucht eine E-Mail-Adresse. Geben Sie eine ein, oder wählen Sie einen anderen Kanal.",
  "fault.mailbox": "Schreiben Sie die Adresse so: {example}.",
  "fault.mailbox.name":
    "Der Name vor der Adresse ist ungültig. Schreiben Sie ihn in eine Zeile, mit höchstens 200 Zeichen.",
  "fault.addresses":
    "Verwenden Sie höchstens {most, number} Adressen. Für mehr senden Sie eine Sammelsendung über die API.",
  "fault.phone": "Geben Sie eine Telefonnummer mit Landesvorwahl ein, zum Beispiel {example}.",
  "fault.phone.digits": "Verwenden Sie nach dem + nur Ziffern, ohne Buchstaben und Durchwahl.",
  "fault.phone.impossible": "Diese Nummer gibt es nicht. Prüfen Sie Landesvorwahl und Länge.",
  "fault.phone.chat": "Geben Sie eine Telefonnummer mit Landesvorwahl oder die ID einer WhatsApp-Gruppe ein.",
  "fault.phone.channel":
    "Dieser Kanal braucht eine Telefonnummer. Geben Sie eine ein, oder wählen Sie einen anderen Kanal.",
  "fault.phone.line": "Nummern dieser Art erhalten keine Codes. Verwenden Sie die Nummer eines Mobiltelefons.",
  "fault.star": "Entfernen Sie den Stern (*).",
  "fault.digits": "Geben Sie die 4 bis 8 Ziffern des Codes ein.",
  "fault.domain.bare": "Geben Sie nur die Domain ein, zum Beispiel example.com, ohne https://, Port oder IP-Adresse.",
  "fault.domain.dots": "Prüfen Sie die Punkte: Einer steht am Anfang, oder zwei stehen beieinander.",
  "fault.domain.long": "Ein Teil zwischen zwei Punkten ist zu lang. Verwenden Sie höchstens {most, number} Zeichen.",
  "fault.domain.characters": "Verwenden Sie nur Buchstaben, Ziffern, Punkte und Bindestriche innerhalb eines Wortes.",
  "fault.domain.short": "Geben Sie die ganze Domain ein, zum Beispiel example.com.",
  "fault.domain.suffix": "Das ist eine öffentliche Endung wie co.uk. Geben Sie eine Domain ein, die Ihnen gehört.",
  "fault.url": "Geben Sie eine URL ein, die mit https:// beginnt.",
  "fault.url.login": "Entfernen Sie Benutzernamen und Passwort aus der URL.",
  "fault.url.fragment": "Entfernen Sie das # und was darauf folgt.",
  "fault.url.port": "Der Port {port} ist nicht erlaubt. Verwenden Sie 443, 80 oder einen anderen Port ab 1024.",
  "fault.url.host": "{host} ist kein Hostname. Prüfen Sie die URL.",
  "fault.url.loopback":
    "Diese URL führt zum Rechner dieses Dienstes. Verwenden Sie eine öffentliche, oder bitten Sie den Betreiber, WEBHOOK_ALLOW_LOOPBACK=true zu setzen.",
  "fault.blocked_address":
    "Diese URL führt nicht zu einem öffentlichen Host. Verwenden Sie eine, die über das Internet erreichbar ist.",
  "fault.tag": "Ein Tag besteht aus 1 bis 64 Buchstaben, Ziffern oder den Zeichen _ . : -. Ändern Sie es.",
  "fault.tags": "Verwenden Sie höchstens {most, number} Tags.",
  "fault.time": "Geben Sie ein Datum und eine Uhrzeit ein.",
  "fault.time.soon": "Wählen Sie eine Zeit, die mindestens 10 Sekunden in der Zukunft liegt.",
  "fault.time.late": "Wählen Sie eine Zeit, die höchstens {days} Tage in der Zukunft liegt.",
  "fault.time.future": "Wählen Sie eine Zeit in der Vergangenheit.",
  "fault.time.order": "Das Ende muss nach dem Anfang liegen. Wählen Sie ein späteres.",
  "fault.template.open":
    "Zeile {line}, Spalte {column}: Doppelte geschweifte Klammern sind nicht geschlossen. Schließen Sie sie mit zwei Klammern.",
  "fault.template.empty":
    "Zeile {line}, Spalte {column}: Zwischen den doppelten Klammern steht kein Name. Schreiben Sie einen.",
  "fault.template.three": "Zeile {line}, Spalte {column}: Drei Klammern haben keine Bedeutung. Schreiben Sie zwei.",
  "fault.template.name":
    "Zeile {line}, Spalte {column}: {name} ist kein gültiger Name. Verwenden Sie Buchstaben, Ziffern, _ und -.",
  "fault.template.reserved":
    "Zeile {line}, Spalte {column}: {name} ist ein reserviertes Wort. Wählen Sie einen anderen Namen.",
  "fault.template.places":
    "Zeile {line}, Spalte {column}: Es gibt zu viele Stellen für Werte. Verwenden Sie höchstens {most, number}.",
  "fault.template.variables":
    "Verwenden Sie höchstens {most, number} verschiedene Werte, mit Namen von höchstens {length} Zeichen.",
  "fault.values.missing": "Geben Sie einen Wert ein für: {names}.",
  "fault.values.nested": "Geben Sie für {names} einen einzelnen Wert ein, ohne Punkt nach dem Namen.",
  "fault.sender":
    "Verwenden Sie einen Namen aus 3 bis 11 Buchstaben und Ziffern mit mindestens einem Buchstaben, eine Telefonnummer mit Landesvorwahl oder eine Kurzwahl aus 3 bis 8 Ziffern.",
  "fault.sender.listed":
    "Dieser Absender steht hier nicht zur Verfügung. Verwenden Sie einen von der Seite „Absender und Preise“.",
  "fault.too_many_segments": "Der Text braucht mehr Segmente, als eine SMS haben darf. Kürzen Sie ihn.",
  "fault.suppressed": "Diese Adresse steht auf der Sperrliste.",
  "fault.events": "Wählen Sie mindestens ein Ereignis.",
  "fault.events.unknown": "Es gibt kein Ereignis {name}. Wählen Sie eines aus der Liste.",
  "fault.headers": "Verwenden Sie höchstens {most, number} Header.",
  "fault.header.name":
    "Header {header}: Verwenden Sie einen Namen aus 1 bis {most, number} Buchstaben, Ziffern oder Bindestrichen.",
  "fault.header.reserved": "Header {header}: Dieser Name ist reserviert. Wählen Sie einen anderen.",
  "fault.header.twice": "Header {header}: Der Name kommt zweimal vor. Entfernen Sie einen.",
  "fault.header.long": "Header {header}: Der Wert ist zu lang. Verwenden Sie höchstens {most, number} Zeichen.",
  "fault.header.value":
    "Header {header}: Schreiben Sie einen Wert in eine Zeile, aus ASCII-Buchstaben, Ziffern und Zeichen.",
  "fault.header.masked": "Header {header}: Unter diesem Namen ist kein Wert gespeichert. Geben Sie den Wert ein.",
  "fault.password.row": "Verwenden Sie keine Folge von Buchstaben, Ziffern oder Tasten.",
  "fault.password.repeat": "Wiederholen Sie nicht immer dieselben Zeichen.",
  "fault.password.own": "Verwenden Sie weder Ihren Namen noch Ihre E-Mail-Adresse.",
  "fault.password.common": "Viele verwenden dieses Passwort oder ein ähnliches. Wählen Sie ein anderes.",
  "fault.password.guess": "Das ist leicht zu erraten. Verwenden Sie mehrere Wörter, die nicht zusammengehören.",
  "fault.mismatch": "Geben Sie in beide Felder dasselbe Passwort ein.",
  "fault.same_password": "Das ist das aktuelle Passwort. Wählen Sie ein anderes.",
  "fault.wrong_password": "Das Passwort ist falsch. Geben Sie es noch einmal ein.",
  "fault.no_password":
    "Das Konto hat noch kein Passwort. Legen Sie das erste mit „Passwort vergessen?“ bei der Anmeldung fest.",
  "fault.batch.open": "Diese Sammelsendung ist nicht beendet. Warten Sie, bis sie abgeschlossen ist.",
  "fault.batch.none": "Diese Sammelsendung hat alle erreicht. Es gibt nichts erneut zu senden.",
  "fault.batch.gone":
    "Der Inhalt dieser Sammelsendung ist nicht mehr gespeichert. Senden Sie sie als neue Sammelsendung.",
  "fault.batch.sender":
    "Der Absender dieser Sammelsendung ist nicht mehr verfügbar. Senden Sie sie als neue Sammelsendung.",
  "fault.batch.time": "Für eine E-Mail einer Sammelsendung gilt deren Zeit. Ändern Sie die Zeit der Sammelsendung.",
  "fault.delete": "Geben Sie das Wort DELETE in Großbuchstaben ein.",
  "fault.entry": "Eintrag {number}: {fault}",
  "fault.other": "Dieser Wert wird nicht angenommen. Ändern Sie ihn. Der Dienst sagt auf Englisch: {detail}"
}
