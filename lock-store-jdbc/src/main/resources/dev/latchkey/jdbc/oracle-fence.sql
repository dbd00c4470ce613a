CREATE TABLE latchkey_fence (
    "RESOURCE"     VARCHAR2(128) PRIMARY KEY,
    fencing_token  NUMBER(19) NOT NULL
)
