CREATE TABLE IF NOT EXISTS latchkey_fence (
    resource       VARCHAR(128) PRIMARY KEY,
    fencing_token  BIGINT NOT NULL
)
