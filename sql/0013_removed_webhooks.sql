-- Webhooks that were deleted, until nothing is left of them: their history may be long, and an event that was being
-- published while they went may have queued one more delivery.
create table removed_webhooks (
  webhook_id bigint primary key,
  removed_at timestamptz not null default now()
);
