-- Only a person's open or click is "read" for a failover, so it looks again when there is the first one. A delivery may be
-- reported after an open, and then changes no status.
create or replace trigger failover_step_changed after update of status, delivered_at, opens, clicks on email_messages
  for each row when (new.failover_id is not null and (
    new.status is distinct from old.status
    or new.delivered_at is distinct from old.delivered_at
    or (new.opens > new.machine_opens or new.clicks > new.bot_clicks)
      and old.opens <= old.machine_opens and old.clicks <= old.bot_clicks
  )) execute function signal_failover();
