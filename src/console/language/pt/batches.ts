import type { batches as english } from "../en/batches.ts"

/** Batches: one text to many recipients. */
export const batches: Readonly<Record<keyof typeof english, string>> = {
  "nav.batches": "Lotes",
  "batches.title": "Lotes",
  "batches.caption": "Lotes deste canal, do mais recente ao mais antigo",
  "batches.channels": "Canais",
  "batches.id": "Lote",
  "batches.status": "Status",
  "batches.total": "Destinatários",
  "batches.failed": "Com falha",
  "batches.progress": "Progresso",
  "batches.created": "Criado",
  "batches.completed": "Concluído",
  "batches.empty.title": "Ainda não há lotes",
  "batches.empty.text":
    "Um lote envia um texto a até 500 destinatários, cada um com seus próprios valores. O guia mostra a requisição.",
  "batches.guide": "Ler o guia",
  "batch.status.scheduled": "agendado",
  "batch.status.queued": "na fila",
  "batch.status.processing": "em andamento",
  "batch.status.completed": "concluído",
  "batch.status.failed": "com falha",
  "batch.status.canceled": "cancelado",
  "batch.title": "Lote de {total, plural, one {# destinatário} other {# destinatários}}",
  "batch.counts": "Progresso",
  "batch.pace": "{count} por minuto em média",
  "batch.paceLeft": "{count} por minuto. Neste ritmo, termina em {span}.",
  "batch.count.sent": "Enviadas",
  "batch.count.queued": "Na fila",
  "batch.count.failed": "Com falha",
  "batch.count.suppressed": "Bloqueadas",
  "batch.count.canceled": "Canceladas",
  "batch.running": "{left, plural, one {Falta # mensagem.} other {Faltam # mensagens.}}",
  "batch.fine": "Todas as mensagens foram enviadas.",
  "batch.fineButCanceled":
    "{canceled, plural, one {# mensagem foi cancelada} other {# mensagens foram canceladas}}. Todas as outras foram enviadas.",
  "batch.some":
    "{failed, plural, one {# de {total} mensagens não chegou} other {# de {total} mensagens não chegaram}} ao destinatário.",
  "batch.canceledAt":
    "O lote foi cancelado. Antes disso, {sent, plural, one {# mensagem havia sido enviada} other {# mensagens haviam sido enviadas}}.",
  "batch.failures": "Últimas falhas por motivo",
  "batch.count": "{count, plural, one {# mensagem} other {# mensagens}}",
  "batch.example": "Exemplo",
  "batch.noReason": "nenhum motivo foi informado",
  "batch.noFailures": "Nenhuma mensagem falhou.",
  "batch.suppressedReason": "O endereço está na lista de bloqueio.",
  "batch.messages": "Todas as mensagens do lote",
  "batch.facts": "Dados",
  "batch.cancel": "Cancelar o lote",
  "batch.cancel.title": "Cancelar este lote?",
  "batch.cancel.text":
    "{queued, plural, one {# mensagem está em espera e não será enviada} other {# mensagens estão em espera e não serão enviadas}}. O que foi enviado continua enviado. Esta ação não pode ser desfeita.",
  "batch.cancel.done": "O lote foi cancelado.",
  "batch.csv": "Destinatários em CSV",
  "batch.again": "Reenviar aos que falharam",
  "batch.again.title": "Reenviar aos destinatários que não foram alcançados?",
  "batch.again.text":
    "Um novo lote envia a eles o mesmo conteúdo. Os destinatários da lista de bloqueio não recebem nada. Isso funciona uma vez por lote.",
  "batch.again.done": "O novo lote foi aceito.",
  "batch.again.as": "Reenviado como"
}
