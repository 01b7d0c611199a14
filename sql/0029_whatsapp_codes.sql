-- A one-time code is in no row: the text of its message has a mask, and so has the stored protobuf. Whoever hands it over
-- fills the mask in from this seed.
alter table whatsapp_outbox add column code_seed text;
