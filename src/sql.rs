//! The SQL definitions, in the order of the installation script. They are written by hand, with
//! volatility, strictness, parallel label and comment of each object in one place.

use pgrx::extension_sql_file;

extension_sql_file!("../sql/begin.sql", name = "begin", bootstrap);
extension_sql_file!("../sql/generate.sql", name = "generate", requires = ["begin"]);
extension_sql_file!("../sql/compose.sql", name = "compose", requires = ["generate"]);
extension_sql_file!("../sql/decode.sql", name = "decode", requires = ["compose"]);
extension_sql_file!("../sql/text.sql", name = "text", requires = ["decode"]);
extension_sql_file!("../sql/admin.sql", name = "admin", requires = ["text"]);
extension_sql_file!("../sql/tables.sql", name = "tables", requires = ["admin"]);
extension_sql_file!("../sql/layouts.sql", name = "layouts", requires = ["tables"]);
extension_sql_file!("../sql/twins.sql", name = "twins", requires = ["layouts"]);
extension_sql_file!("../sql/planner.sql", name = "planner", requires = ["twins"]);
extension_sql_file!("../sql/bind.sql", name = "bind", requires = ["planner"]);
extension_sql_file!("../sql/partitions.sql", name = "partitions", requires = ["bind"]);
extension_sql_file!("../sql/backfill.sql", name = "backfill", requires = ["partitions"]);
extension_sql_file!("../sql/migration.sql", name = "migration", requires = ["backfill"]);
extension_sql_file!("../sql/tickets.sql", name = "tickets", requires = ["migration"]);
extension_sql_file!("../sql/grants.sql", name = "grants", requires = ["tickets"], finalize);
