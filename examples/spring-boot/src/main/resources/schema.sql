CREATE TABLE IF NOT EXISTS orders (id bigint PRIMARY KEY, items int NOT NULL);
CREATE TABLE IF NOT EXISTS report (token bigint PRIMARY KEY);
CREATE TABLE IF NOT EXISTS stock (article varchar(100) NOT NULL);
