CREATE TABLE latchkey_fence (
    resource       VARCHAR(128) COLLATE Latin1_General_100_BIN2 PRIMARY KEY,
    fencing_token  BIGINT NOT NULL
)
