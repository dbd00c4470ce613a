CREATE TABLE IF NOT EXISTS latchkey_fence (
    resource       VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
    fencing_token  BIGINT NOT NULL
) ENGINE = InnoDB
