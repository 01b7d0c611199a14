-- Keys are deleted some months after their end.
create index api_keys_ended on api_keys (expires_at) where expires_at is not null;
