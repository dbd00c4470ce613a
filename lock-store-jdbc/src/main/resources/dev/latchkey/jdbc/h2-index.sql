CREATE TABLE IF NOT EXISTS latchkey_index (
    resource        VARCHAR(128) PRIMARY KEY,
    exclusive_index BIGINT NOT NULL,
    shared_index    BIGINT NOT NULL
)
