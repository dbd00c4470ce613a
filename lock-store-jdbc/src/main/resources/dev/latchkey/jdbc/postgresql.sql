CREATE TABLE IF NOT EXISTS latchkey_lock (
    resource       varchar(128) COLLATE "C" PRIMARY KEY,
    token          varchar(64) NOT NULL,
    holder         varchar(2000) NOT NULL,
    acquired_at    bigint NOT NULL,
    expires_at     bigint NOT NULL,
    fencing_token  bigint NOT NULL,
    readers        text NOT NULL,
    readers_until  bigint NOT NULL,
    promoter       varchar(64) NOT NULL,
    promoter_until bigint NOT NULL,
    waited         smallint NOT NULL,
    version        bigint NOT NULL
) WITH (fillfactor = 50)
