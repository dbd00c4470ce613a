CREATE TABLE IF NOT EXISTS latchkey_lock (
    resource       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    token          VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    holder         VARCHAR(2000) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    acquired_at    BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    fencing_token  BIGINT NOT NULL,
    readers        MEDIUMTEXT CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    readers_until  BIGINT NOT NULL,
    promoter       VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    promoter_until BIGINT NOT NULL,
    waited         TINYINT NOT NULL,
    version        BIGINT NOT NULL
) ENGINE = InnoDB
