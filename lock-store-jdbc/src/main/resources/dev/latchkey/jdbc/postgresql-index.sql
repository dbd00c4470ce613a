CREATE TABLE IF NOT EXISTS latchkey_index (
    resource        varchar(128) COLLATE "C" PRIMARY KEY,
    exclusive_index bigint NOT NULL,
    shared_index    bigint NOT NULL
) WITH (fillfactor = 50)
