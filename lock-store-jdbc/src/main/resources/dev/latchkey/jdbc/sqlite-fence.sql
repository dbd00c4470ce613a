CREATE TABLE IF NOT EXISTS latchkey_fence (
    resource       TEXT PRIMARY KEY,
    fencing_token  INTEGER NOT NULL
)
