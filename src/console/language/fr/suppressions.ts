import type { suppressions as english } from "../en/suppressions.ts"

/** Addresses that get no mail. */
export const suppressions: Readonly<Record<keyof typeof english, string>> = {
  "nav.suppressions": "Adresses bloquées",
  "suppressions.title": "Adresses bloquées",
  "suppressions.lead": "Adresses qui ne reçoivent pas d’e-mails de ce compte.",
  "suppressions.caption": "Adresses bloquées, de la plus récente à la plus ancienne",
  "suppressions.new": "Bloquer une adresse",
  "suppressions.email": "Adresse",
  "suppressions.reason": "Motif",
  "suppressions.filter": "Blocages par motif",
  "suppressions.all": "tous",
  "suppressions.q": "L’adresse entière",
  "suppressions.reason.unsubscribe": "désabonnement",
  "suppressions.reason.bounce": "rejet",
  "suppressions.reason.complaint": "signalement de spam",
  "suppressions.reason.manual": "à la main",
  "suppressions.since": "Depuis",
  "suppressions.source": "Message",
  "suppressions.empty.title": "Aucune adresse n’est bloquée",
  "suppressions.empty.text":
    "C’est bien. Les adresses qui rejettent, signalent un spam ou se désabonnent apparaissent ici d’elles-mêmes.",
  "suppressions.empty.filtered": "Aucune adresse n’est bloquée pour ce motif.",
  "suppressions.empty.address": "Cette adresse n’est pas bloquée.",
  "suppressions.add.title": "Bloquer une adresse",
  "suppressions.add.hint": "Les e-mails vers elle s’arrêtent aussitôt, même ceux qui ont déjà été acceptés.",
  "suppressions.add.button": "Bloquer l’adresse",
  "suppressions.added": "L’adresse ne reçoit plus d’e-mails.",
  "suppressions.import": "Importer",
  "suppressions.import.title": "Importer des adresses",
  "suppressions.import.list": "Adresses",
  "suppressions.import.hint":
    "Une adresse par ligne. D’un fichier CSV, seule la première colonne compte. Les adresses bloquées gardent leur motif.",
  "suppressions.import.wrong": "Rien n’a été importé : {address} n’est pas une adresse e-mail.",
  "suppressions.import.left": "{done} adresses sur {total} ont été importées. La liste contient maintenant les autres.",
  "suppressions.imported": "Les adresses ne reçoivent plus d’e-mails.",
  "suppressions.remove": "Retirer",
  "suppressions.removeNamed": "Retirer le blocage de {email}",
  "suppressions.remove.title": "Retirer le blocage ?",
  "suppressions.remove.text":
    "Les nouveaux e-mails partent de nouveau vers {email}. Les messages qui ont été bloqués le restent.",
  "suppressions.remove.bounce":
    "Cette adresse a rejeté un e-mail. Si elle en rejette un autre, les serveurs destinataires feront moins confiance à votre domaine.",
  "suppressions.remove.unsubscribe":
    "Cette personne s’est désabonnée. Ne lui écrivez que si elle l’a de nouveau demandé.",
  "suppressions.remove.button": "Retirer le blocage",
  "suppressions.removed": "Le blocage a été retiré."
}
