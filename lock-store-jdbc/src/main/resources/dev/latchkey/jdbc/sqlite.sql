CREATE TABLE IF NOT EXISTS latchkey_lock (
    resource       TEXT PRIMARY KEY,
    token          TEXT NOT NULL,
    holder         TEXT NOT NULL,
    acquired_at    INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL,
    fencing_token  INTEGER NOT NULL,
    readers        TEXT NOT NULL,
    readers_until  INTEGER NOT NULL,
    promoter       TEXT NOT NULL,
    promoter_until INTEGER NOT NULL,
    waited         INTEGER NOT NULL,
    version        INTEGER NOT NULL
)
