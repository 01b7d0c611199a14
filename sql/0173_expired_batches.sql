-- Pruning finds batches by these. Without them, each round read all batches.
create index email_batches_texts on email_batches (completed_at) where html <> '' or text is not null or body_day is not null;
create index email_batches_subjects on email_batches ((coalesce(send_at, created_at)))
  where completed_at is not null and subject <> '';
create index email_batches_age on email_batches ((coalesce(send_at, created_at))) where completed_at is not null;
create index message_batches_age on message_batches ((coalesce(send_at, created_at))) where completed_at is not null;
create index failovers_age on failovers ((coalesce(send_at, created_at))) where completed_at is not null;
