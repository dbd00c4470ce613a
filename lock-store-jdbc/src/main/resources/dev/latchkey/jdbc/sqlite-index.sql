CREATE TABLE IF NOT EXISTS latchkey_index (
    resource        TEXT PRIMARY KEY,
    exclusive_index INTEGER NOT NULL,
    shared_index    INTEGER NOT NULL
)
