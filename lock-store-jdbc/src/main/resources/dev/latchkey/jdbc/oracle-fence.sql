CREATE TABLE latchkey_fence (
    resource       VARCHAR2(128) PRIMARY KEY,
    fencing_token  NUMBER(19) NOT NULL
)
