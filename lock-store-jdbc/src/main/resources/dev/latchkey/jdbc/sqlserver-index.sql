CREATE TABLE latchkey_index (
    resource        VARCHAR(128) COLLATE Latin1_General_100_BIN2 PRIMARY KEY,
    exclusive_index BIGINT NOT NULL,
    shared_index    BIGINT NOT NULL
)
