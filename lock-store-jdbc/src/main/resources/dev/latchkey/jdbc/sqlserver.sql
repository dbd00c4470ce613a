CREATE TABLE latchkey_lock (
    resource       VARCHAR(128) COLLATE Latin1_General_100_BIN2 PRIMARY KEY,
    token          VARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    holder         VARCHAR(2000) NOT NULL,
    acquired_at    BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    fencing_token  BIGINT NOT NULL,
    readers        VARCHAR(MAX) COLLATE Latin1_General_100_BIN2 NOT NULL,
    readers_until  BIGINT NOT NULL,
    promoter       VARCHAR(64) COLLATE Latin1_General_100_BIN2 NOT NULL,
    promoter_until BIGINT NOT NULL,
    waited         SMALLINT NOT NULL,
    version        BIGINT NOT NULL
)
