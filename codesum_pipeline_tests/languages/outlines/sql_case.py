"""SQL as people write it for five databases; one file has them all, which no parser reads."""

from codesum_pipeline_tests.languages.outlines.cases import OutlineCase

SOURCE = """\
-- The tables of a small shop; it's read by five databases.

DROP TABLE IF EXISTS shop.customers;
CREATE SCHEMA shop;

-- Who buys something.
CREATE TABLE IF NOT EXISTS shop.customers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- never shown
    "full name" varchar(80) NOT NULL DEFAULT 'it''s; empty',
    standing standing,
    price numeric(10, 2) CHECK (price > 0 AND price < 100),
    CONSTRAINT one_name UNIQUE ("full name", standing)
);
CREATE INDEX customers_name ON shop.customers ("full name");
INSERT INTO shop.customers VALUES (1, 'CREATE TABLE none (a int);', 'new', 1);
COPY shop.customers (id, standing) FROM stdin;
1	it's
\\.

CREATE TYPE standing AS ENUM ('new', 'known');
CREATE TYPE place AS (street text, town text);
CREATE DOMAIN price AS numeric CHECK (value > 0);

/* Orders that are not paid. */
CREATE OR REPLACE VIEW shop.open_orders AS
SELECT o.id, CASE WHEN o.paid THEN 1 ELSE 0 END FROM shop.orders o
JOIN customers c ON c.id = o.customer_id;
CREATE MATERIALIZED VIEW totals AS SELECT sum(total) FROM open_orders;

-- Adds up what a customer has bought.
CREATE FUNCTION shop.total(customer bigint, since date DEFAULT now())
RETURNS numeric AS $body$
DECLARE
    found numeric;
BEGIN
    IF customer IS NULL THEN
        RETURN 0;
    END IF;
    SELECT sum(o.price) INTO found FROM shop.open_orders o;
    PERFORM shop.note(customer, 'CREATE TABLE none (a int)');
    RETURN found;
END;
$body$ LANGUAGE plpgsql STABLE;

CREATE FUNCTION shop.note(customer bigint, words text) RETURNS void
    LANGUAGE sql AS 'INSERT INTO notes VALUES (1)';
CREATE TRIGGER seen AFTER INSERT OR UPDATE ON shop.customers
    FOR EACH ROW WHEN (NEW.id IS DISTINCT FROM OLD.id)
    EXECUTE FUNCTION shop.on_seen();

DO $$
BEGIN
    CREATE TABLE shop.late (id int);
END $$;

# MySQL

CREATE TABLE `orders` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT COMMENT 'it\\'s a number',
  `kind` enum('a','b') DEFAULT 'a',
  PRIMARY KEY (`id`),
  KEY `by_kind` (`kind`, `id`)
) ENGINE=InnoDB;
DELIMITER //
CREATE DEFINER=`root`@`localhost` PROCEDURE pay(IN number INT)
BEGIN
  DECLARE done INT DEFAULT 0;
  CREATE TEMPORARY TABLE seen_rows (id INT);
  WHILE done < 1 DO
    UPDATE orders SET paid = 1;
    SET done = CASE WHEN done = 0 THEN 1 ELSE 2 END;
  END WHILE;
  CALL tell(number);
END //
CREATE EVENT nightly ON SCHEDULE EVERY 1 DAY DO CALL pay(1)//
DELIMITER ;

CREATE TRIGGER IF NOT EXISTS keep_time AFTER UPDATE ON orders
BEGIN
  UPDATE orders SET seen = datetime('now');
END;

-- SQL Server
GO
CREATE TABLE [dbo].[Parcel Kinds] (
    [Id] [int] IDENTITY(1,1) NOT NULL,
    [Label] nvarchar(max) NULL
)
INSERT INTO [dbo].[Parcel Kinds] VALUES (1)
GO
-- Sends a parcel.
ALTER PROCEDURE [dbo].[Send]
    @id int, @path nvarchar(20) = '\\'
AS
SET NOCOUNT ON;
BEGIN TRY
    CREATE TABLE #parcels (id int);
    EXEC dbo.Log_It @id;
END TRY
BEGIN CATCH
    THROW;
END CATCH
RETURN 0;
GO
CREATE PROC dbo.Log_It AS SELECT 1
GO

CREATE OR REPLACE PACKAGE BODY billing IS
    PROCEDURE bill(id NUMBER) IS
    BEGIN
        NULL;
    END bill;
END billing;
/
"""

CASE = OutlineCase(
    language="sql",
    path="db/shop.sql",
    source=SOURCE,
    found={
        "shop::customers": ("class", 7, 13),
        "standing": ("class", 20, 20),
        "place": ("class", 21, 21),
        "price": ("class", 22, 22),
        "shop::open_orders": ("class", 25, 27),
        "totals": ("class", 28, 28),
        "shop::total": ("function", 31, 43),
        "shop::note": ("function", 45, 46),
        "seen": ("function", 47, 49),
        "shop::late": ("class", 53, 53),
        "orders": ("class", 58, 63),
        "pay": ("function", 65, 74),
        "nightly": ("function", 75, 75),
        "keep_time": ("function", 78, 81),
        "dbo::Parcel Kinds": ("class", 85, 88),
        "dbo::Send": ("function", 92, 103),
        "dbo::Log_It": ("function", 105, 105),
        "billing": ("class", 108, 113),
    },
    documented={
        "shop::customers": "Who buys something.",
        "shop::open_orders": "Orders that are not paid.",
        "shop::total": "Adds up what a customer has bought.",
        "dbo::Send": "Sends a parcel.",
    },
    fields={
        "shop::customers": ("id", "full name", "standing", "price"),
        "standing": ("new", "known"),
        "place": ("street", "town"),
        "shop::late": ("id",),
        "orders": ("id", "kind"),
        "dbo::Parcel Kinds": ("Id", "Label"),
    },
    calls={
        "shop::total": ("now", "sum", "note"),
        "pay": ("tell",),
        "dbo::Send": ("Log_It",),
        "seen": ("on_seen",),
    },
    edit=("found numeric;", "found numeric := 0;"),
    edited=frozenset({"shop::total"}),
    rename=("open_orders", "unpaid_orders"),
    renamed={"shop::open_orders": "shop::unpaid_orders"},
    uses=frozenset(
        {
            ("dbo::Send", "dbo::Log_It"),
            ("keep_time", "orders"),
            ("nightly", "pay"),
            ("pay", "orders"),
            ("seen", "shop::customers"),
            ("shop::customers", "standing"),
            ("shop::open_orders", "orders"),
            ("shop::open_orders", "shop::customers"),
            ("shop::total", "shop::note"),
            ("shop::total", "shop::open_orders"),
            ("totals", "shop::open_orders"),
        }
    ),
)
