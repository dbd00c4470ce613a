CREATE TABLE latchkey_index (
    "RESOURCE"      VARCHAR2(128) PRIMARY KEY,
    exclusive_index NUMBER(19) NOT NULL,
    shared_index    NUMBER(19) NOT NULL
)
