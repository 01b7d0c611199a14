-- An event names its first deliveries. A delivery that repeats another one is found by `requeued_as`.
alter table events add column webhook_ids bigint[], add column delivery_ids bigint[];
