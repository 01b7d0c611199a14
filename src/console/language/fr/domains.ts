import type { domains as english } from "../en/domains.ts"

/** Sending domains. */
export const domains: Readonly<Record<keyof typeof english, string>> = {
  "nav.domains": "Domaines",
  "domains.title": "Domaines d’envoi",
  "domains.lead":
    "Les e-mails de votre propre domaine ont besoin d’enregistrements dans son DNS. Le service les vérifie.",
  "domains.caption": "Domaines d’envoi de ce compte",
  "domains.new": "Ajouter un domaine",
  "domains.domain": "Domaine",
  "domains.domainHint": "Un domaine qui vous appartient, par exemple example.com. Un sous-domaine s’ajoute séparément.",
  "domains.status": "Statut",
  "domains.status.pending": "non vérifié",
  "domains.status.verified": "vérifié",
  "domains.warnings": "À améliorer",
  "domains.warningCount": "{count, plural, one {# avertissement} other {# avertissements}}",
  "domains.checked": "Dernière vérification",
  "domains.created": "Ajouté",
  "domains.empty.title": "Pas encore de domaine d’envoi",
  "domains.empty.text": "Tant que vous n’en ajoutez pas, les e-mails partent de l’adresse de ce service.",
  "domains.add.title": "Ajouter un domaine d’envoi",
  "domains.add.button": "Ajouter le domaine",
  "domains.added": "Le domaine a été ajouté. Publiez ses enregistrements, puis vérifiez-le.",
  "domains.state.pending": "Les e-mails de ce domaine sont refusés tant que DKIM et SPF ne sont pas vérifiés.",
  "domains.state.verified": "Vous pouvez envoyer depuis ce domaine.",
  "domains.check": "Vérifier maintenant",
  "domains.check.done": "Les enregistrements ont été vérifiés.",
  "domains.records": "Enregistrements DNS",
  "domains.required": "obligatoire",
  "domains.advised": "conseillé",
  "domains.record.unchecked": "pas encore vérifié",
  "domains.record.verified": "vérifié",
  "domains.record.missing": "manquant",
  "domains.record.mismatch": "autre valeur",
  "domains.record.conflict": "trop d’enregistrements",
  "domains.record.temporary_error": "pas de réponse du DNS",
  "domains.record.type": "Type",
  "domains.record.name": "Nom",
  "domains.record.short": "Nom, pour les hébergeurs DNS qui ajoutent le domaine",
  "domains.record.value": "Valeur",
  "domains.record.found": "Ce que contient le DNS",
  "domains.record.nothing": "aucun enregistrement de ce nom",
  "domains.purpose.DKIM": "DKIM",
  "domains.purpose.SPF": "SPF",
  "domains.purpose.DMARC": "DMARC",
  "domains.purpose.MX": "MX",
  "domains.purposeText.DKIM": "Les serveurs destinataires s’en servent pour vérifier que l’e-mail vient de vous.",
  "domains.purposeText.SPF": "Autorise ce service à envoyer pour votre domaine.",
  "domains.purposeText.DMARC":
    "Indique aux serveurs destinataires que faire des e-mails falsifiés. Les grands fournisseurs en demandent un.",
  "domains.purposeText.MX":
    "Dirige les réponses vers un serveur de messagerie. Omettez-le si votre domaine reçoit ses e-mails ailleurs.",
  "verdict.spf.missing":
    "Il n’y a pas d’enregistrement SPF. Publiez celui-ci. Il peut mettre quelques minutes à devenir visible.",
  "verdict.spf.several": "Il y a {count} enregistrements SPF, ce qui les invalide tous. N’en gardez qu’un : {record}",
  "verdict.spf.add":
    "L’enregistrement SPF ne contient pas l’hôte. N’ajoutez pas de second enregistrement SPF. Remplacez celui qui existe par : {record}",
  "verdict.spf.target": "{name}, la cible de redirect=, a {count} enregistrements SPF. N’en gardez qu’un.",
  "verdict.spf.redirect":
    "Ni cet enregistrement ni celui de {name} ne contient l’hôte. N’ajoutez pas de second enregistrement SPF. Remplacez celui qui existe par : {record}",
  "verdict.dkim.missing":
    "Il n’y a pas d’enregistrement TXT. Publiez celui-ci. Il peut mettre quelques minutes à devenir visible.",
  "verdict.dkim.none":
    "Il y a un enregistrement TXT, mais pas de clé DKIM. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.several": "Il y a {count} clés DKIM. Supprimez-les toutes sauf celle qui a cette valeur.",
  "verdict.dkim.tags":
    "L’enregistrement n’est pas une liste DKIM de noms et de valeurs. Publiez exactement la valeur de cet enregistrement, sans guillemets.",
  "verdict.dkim.version": "Sa version n’est pas DKIM1. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.type": "Son type de clé n’est pas rsa. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.sha256": "Il n’autorise pas SHA-256. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.email": "Il n’autorise pas la clé pour l’e-mail. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.revoked":
    "Sa clé est vide, ce qui la marque comme révoquée. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dkim.base64":
    "Sa clé n’est pas du base64 valide. Publiez exactement la valeur de cet enregistrement, sans guillemets ni sauts de ligne.",
  "verdict.dkim.other":
    "Sa clé n’est pas celle de ce domaine, ou elle a été coupée. Publiez exactement la valeur de cet enregistrement.",
  "verdict.dmarc.missing":
    "Il n’y a pas d’enregistrement DMARC. Il n’est pas obligatoire, mais Gmail et Yahoo en exigent un pour les envois en masse. Publiez celui-ci.",
  "verdict.dmarc.policy":
    "L’enregistrement DMARC n’a pas de politique valide. Mettez p=none, ou publiez cet enregistrement.",
  "verdict.dmarc.several": "Il y a {count} enregistrements DMARC, ce qui les invalide tous. N’en gardez qu’un.",
  "verdict.mx.missing":
    "Il n’y a pas d’enregistrement MX. Il n’est pas obligatoire. Ce service ne reçoit pas de réponses.",
  "verdict.mx.address":
    "L’enregistrement MX nomme {host}, qui n’a pas d’adresse. Donnez-lui un enregistrement A ou AAAA.",
  "verdict.mx.none":
    "L’enregistrement MX indique que ce domaine n’accepte pas d’e-mails. Il n’est pas obligatoire. Ce service ne reçoit pas de réponses.",
  "verdict.mx.elsewhere":
    "Les e-mails adressés à ce domaine vont à un autre serveur, ce qui convient. L’enregistrement n’est pas obligatoire. Ce service ne reçoit pas de réponses.",
  "verdict.unanswered":
    "Le DNS n’a pas répondu. Cela ne dit rien de l’enregistrement. Vérifiez de nouveau dans quelques minutes. ({reason})",
  "verdict.warning.dkim":
    "La clé DKIM n’est pas publiée correctement. Les serveurs destinataires ne peuvent pas vérifier les signatures, et Gmail et Yahoo refusent les envois en masse sans elles.",
  "verdict.warning.spf":
    "Aucun enregistrement SPF n’inclut ce service. Sans lui, Gmail et Yahoo refusent les envois en masse.",
  "verdict.warning.dmarc":
    "Il n’y a pas de politique DMARC. Sans elle, Gmail et Yahoo refusent les envois en masse ; p=none suffit.",
  "domains.zone": "Tous les enregistrements sous forme de fichier de zone",
  "domains.tracking": "Suivi des ouvertures et des clics",
  "domains.tracking.text":
    "Vaut pour les e-mails acceptés à partir de maintenant. Une requête peut en décider autrement.",
  "domains.tracking.opens": "Suivre les ouvertures",
  "domains.tracking.clicks": "Suivre les clics",
  "domains.tracking.done": "Le suivi a été modifié.",
  "domains.delete": "Supprimer",
  "domains.delete.title": "Supprimer {domain} ?",
  "domains.delete.text":
    "Ensuite, les e-mails de ce domaine sont refusés et sa clé est effacée. Si vous ajoutez de nouveau le domaine, il reçoit une nouvelle clé, avec un nouvel enregistrement à publier. Cette action est irréversible.",
  "domains.delete.typed": "Saisissez le domaine",
  "domains.delete.button": "Supprimer le domaine",
  "domains.delete.done": "Le domaine a été supprimé."
}
