CREATE TABLE latchkey_lock (
    "RESOURCE"     VARCHAR2(128) PRIMARY KEY,
    token          VARCHAR2(64) NOT NULL,
    holder         VARCHAR2(2000) NOT NULL,
    acquired_at    NUMBER(19) NOT NULL,
    expires_at     NUMBER(19) NOT NULL,
    fencing_token  NUMBER(19) NOT NULL,
    readers        CLOB NOT NULL,
    readers_until  NUMBER(19) NOT NULL,
    promoter       VARCHAR2(64) NOT NULL,
    promoter_until NUMBER(19) NOT NULL,
    waited         NUMBER(1) NOT NULL,
    version        NUMBER(19) NOT NULL
)
