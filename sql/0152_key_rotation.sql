-- When another key replaced this one, which then got an end. A key is rotated once, so its end never moves to a later time.
-- A node of the previous version refuses it after its end, as every key.
alter table api_keys add column rotated_at timestamptz;
