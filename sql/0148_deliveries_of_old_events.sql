-- In a transaction of its own, because nodes of the version before publish events meanwhile.
update events e set webhook_ids = d.webhook_ids, delivery_ids = d.delivery_ids
from (
  select event_id, array_agg(webhook_id order by id) as webhook_ids, array_agg(id order by id) as delivery_ids
  from (select event_id, webhook_id, id from webhook_deliveries union all select event_id, webhook_id, id from webhook_queue) d
  group by event_id
) d
where e.id = d.event_id;
