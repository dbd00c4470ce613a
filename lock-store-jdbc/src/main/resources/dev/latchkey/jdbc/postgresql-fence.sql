CREATE TABLE IF NOT EXISTS latchkey_fence (
    resource       varchar(128) COLLATE "C" PRIMARY KEY,
    fencing_token  bigint NOT NULL
) WITH (fillfactor = 50)
