import type { batches as english } from "../en/batches.ts"

/** Batches: one text to many recipients. */
export const batches: Readonly<Record<keyof typeof english, string>> = {
  "nav.batches": "Lots",
  "batches.title": "Lots",
  "batches.caption": "Lots de ce canal, du plus récent au plus ancien",
  "batches.channels": "Canaux",
  "batches.id": "Lot",
  "batches.status": "Statut",
  "batches.total": "Destinataires",
  "batches.failed": "Échoués",
  "batches.progress": "Progression",
  "batches.created": "Créé",
  "batches.completed": "Terminé",
  "batches.empty.title": "Pas encore de lot",
  "batches.empty.text":
    "Un lot envoie un texte à 500 destinataires au plus, chacun avec ses propres valeurs. Le guide montre la requête.",
  "batches.guide": "Lire le guide",
  "batch.status.scheduled": "programmé",
  "batch.status.queued": "en file d’attente",
  "batch.status.processing": "en cours",
  "batch.status.completed": "terminé",
  "batch.status.failed": "échoué",
  "batch.status.canceled": "annulé",
  "batch.title": "Lot de {total, plural, one {# destinataire} other {# destinataires}}",
  "batch.counts": "Progression",
  "batch.pace": "{count} par minute en moyenne",
  "batch.paceLeft": "{count} par minute. À ce rythme, fin dans {span}.",
  "batch.count.sent": "Envoyés",
  "batch.count.queued": "En file d’attente",
  "batch.count.failed": "Échoués",
  "batch.count.suppressed": "Bloqués",
  "batch.count.canceled": "Annulés",
  "batch.running": "{left, plural, one {Il reste # message.} other {Il reste # messages.}}",
  "batch.fine": "Tous les messages ont été envoyés.",
  "batch.fineButCanceled":
    "{canceled, plural, one {# message a été annulé} other {# messages ont été annulés}}. Tous les autres ont été envoyés.",
  "batch.some":
    "{failed, plural, one {# message sur {total} n’a pas} other {# messages sur {total} n’ont pas}} atteint le destinataire.",
  "batch.canceledAt":
    "Le lot a été annulé. Auparavant, {sent, plural, one {# message avait été envoyé} other {# messages avaient été envoyés}}.",
  "batch.failures": "Derniers échecs par motif",
  "batch.count": "{count, plural, one {# message} other {# messages}}",
  "batch.example": "Exemple",
  "batch.noReason": "aucun motif n’a été donné",
  "batch.noFailures": "Aucun message n’a échoué.",
  "batch.suppressedReason": "L’adresse figure sur la liste de blocage.",
  "batch.messages": "Tous les messages du lot",
  "batch.facts": "Informations",
  "batch.cancel": "Annuler le lot",
  "batch.cancel.title": "Annuler ce lot ?",
  "batch.cancel.text":
    "{queued, plural, one {# message attend et ne sera pas envoyé} other {# messages attendent et ne seront pas envoyés}}. Ce qui est envoyé le reste. Cette action est irréversible.",
  "batch.cancel.done": "Le lot a été annulé.",
  "batch.csv": "Destinataires en CSV",
  "batch.again": "Renvoyer aux destinataires en échec",
  "batch.again.title": "Renvoyer aux destinataires qui n’ont pas été atteints ?",
  "batch.again.text":
    "Un nouveau lot leur envoie le même contenu. Les destinataires de la liste de blocage ne reçoivent rien. Cela fonctionne une fois par lot.",
  "batch.again.done": "Le nouveau lot a été accepté.",
  "batch.again.as": "Renvoyé comme"
}
