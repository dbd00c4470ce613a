CREATE TABLE IF NOT EXISTS latchkey_lock (
    resource       VARCHAR(128) PRIMARY KEY,
    token          VARCHAR(64) NOT NULL,
    holder         VARCHAR(2000) NOT NULL,
    acquired_at    BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    fencing_token  BIGINT NOT NULL,
    readers        VARCHAR(1000000) NOT NULL,
    readers_until  BIGINT NOT NULL,
    promoter       VARCHAR(64) NOT NULL,
    promoter_until BIGINT NOT NULL,
    waited         SMALLINT NOT NULL,
    version        BIGINT NOT NULL
)
