# Proves that an ordinary user hides no setting of the server's or of the database's by setting it before the
# library is there: by a client's option in any spelling, by SET in any form, in the session itself or in a
# parallel worker that loads the library for itself. Each setting of ours is tried. Where the library is preloaded
# PostgreSQL refuses the client; elsewhere the library isn't loaded in such a session, so that no ID is drawn by
# another setting than the administrator's.
#
# It would fail if a value that is refused once the library is there had taken the place of the one that
# counts, or if a parallel worker took none over: the built-in one would be left, and an ordinary user would draw from all shards of the server.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $node = server('main', preload => 0, conf => "pg_snowid.max_clock_regression = '5s'");
my $major = major($node);
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE ordinary LOGIN;
ALTER DATABASE postgres SET pg_snowid.shards = '7-9';
ALTER DATABASE postgres OWNER TO ordinary;
CREATE TABLE filled AS SELECT n FROM generate_series(1, 1000) AS n;
ANALYZE filled;
-- Whoever calls it may be the first in its process who needs the library.
CREATE FUNCTION run(statement text) RETURNS bigint LANGUAGE plpgsql PARALLEL SAFE AS
    $$ DECLARE result bigint; BEGIN EXECUTE statement INTO result; RETURN result; END $$;
CREATE FUNCTION run_with_none(statement text) RETURNS bigint LANGUAGE plpgsql SET pg_snowid.shards = '' AS
    $$ DECLARE result bigint; BEGIN EXECUTE statement INTO result; RETURN result; END $$;
GRANT SELECT ON filled TO ordinary;
SQL

# What an ordinary user's session prints and its errors, begun with such options.
sub ordinary
{
	my ($options, $sql) = @_;
	local $ENV{PGOPTIONS} = $options;
	my ($out, $err) = ('', '');
	# Without SQL it only connects: to write some to a client that is refused may fail.
	$node->psql('postgres', defined $sql ? "\\set VERBOSITY verbose\n$sql" : '', stdout => \$out, stderr => \$err, on_error_stop => 0,
		extra_params => [ '-U', 'ordinary' ]);
	return $out . $err;
}

my $not_ours = qr/42501: +shard 100 is not for this database\nDETAIL: +It may draw from the shards 7-9 only\./;
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off;';
my $in_a_worker = qq($parallel SELECT max(n) FROM (SELECT run('SELECT next_id(100)') AS n FROM filled OFFSET 0) AS ids);

# --- Nothing is set by the session: what the server and the database say counts ---

like(ordinary('', 'SELECT next_id(100)'), $not_ours, "the database's shards are in force");
like(ordinary('', "SELECT id_shard(0); SHOW pg_snowid.max_clock_regression; SHOW pg_snowid.shards"), qr/^5s\n7-9$/m, "so is the server's setting");
my $lost = qr/55000: +pg_snowid cannot be loaded during a parallel operation\nDETAIL: +The value of "pg_snowid\.\w+" would be lost\.\nHINT: +Add pg_snowid to "shared_preload_libraries"/;
like(ordinary('', $in_a_worker), qr/$lost.*CONTEXT:.*parallel worker/s, 'a parallel worker that loads the library for itself is refused, since it would lose them');
like(ordinary('', "SELECT id_shard(0); $in_a_worker"), qr/$not_ours.*CONTEXT:.*parallel worker/s, 'one whose leader has it goes by them');
like(ordinary('', "$parallel SET parallel_leader_participation = on; SET max_parallel_workers = 0; SELECT max(n) FROM (SELECT run('SELECT next_id(100)') AS n FROM filled OFFSET 0) AS ids; SELECT next_id(100)"),
	qr/$lost.*$not_ours/s, 'a leader that loads it while it waits for workers, too; later it goes by them');
SKIP: {
	skip 'no IDs without preloading before PostgreSQL 17', 1 if $major < 17;
	like(ordinary('', 'SELECT id_shard(next_id(8))'), qr/^8$/m, "from the database's shards IDs are drawn");
}

# --- Set by the client or by SET ---

my @settings = split /\n/, $node->safe_psql('postgres', q(SELECT id_shard(0) \g /dev/null
	SELECT name || '=' || setting FROM pg_settings WHERE name LIKE 'pg\_snowid.%' ORDER BY name));
cmp_ok(scalar @settings, '>', 10, "there are @{[ scalar @settings ]} settings");
sub refused { my ($name) = @_; return qr/ERROR: +55P02: parameter "$name" cannot be set before pg_snowid is loaded\nDETAIL: .*\nHINT: +Connect without it/ }
for (@settings)
{
	my ($name, $value) = split /=/, $_, 2;
	for my $sql ('SELECT next_id(100)', 'SELECT next_id(7)', 'SELECT snowflake_id(1, 1)')
	{
		like(ordinary("-c $name=$value", $sql), refused($name), "-c $name: $sql is refused");
	}
	like(ordinary('', "SET $name = '$value'; SELECT next_id(100)"), refused($name), "SET $name: refused");
	like(ordinary('', "SET $name = '$value'; RESET $name; SELECT next_id(100)"), $not_ours, "SET and RESET $name: what the database says counts");
	like(ordinary("-c $name=$value", "RESET $name; RESET ALL; SELECT next_id(100)"), refused($name), "-c $name: RESET does not help");
}
for my $options ('-c pg_snowid.shards=', '-c PG_Snowid.Shards=0-8191', '--pg_snowid.shards=0-8191', '--pg-snowid.shards=0-8191',
	'-c pg-snowid.shards=0-8191', '-cpg_snowid.shards=0-8191', '-c pg_snowid.shards=\\ 0-8191', '-c pg_snowid.shards=1 -c pg_snowid.shards=2',
	'-c pg_snowid.none_of_ours=1')
{
	for my $sql ('SELECT next_id(100)', "LOAD 'pg_snowid'; SELECT next_id(100)", $in_a_worker)
	{
		my $said = ordinary($options, $sql);
		like($said, qr/ERROR: +55P02: parameter "pg_snowid\.\w+" cannot be set before/i, "$options: refused" . ($sql eq $in_a_worker ? ', in a parallel worker' : ''));
		unlike($said, qr/^\d{10,}$/m, "$options: and no ID is drawn");
	}
}
for my $sql (
	"SET pg_snowid.shards = ''; $in_a_worker",
	"BEGIN; SET LOCAL pg_snowid.shards = ''; $in_a_worker; COMMIT",
	"SELECT set_config('pg_snowid.shards', '', false); SELECT next_id(100)",
	"SELECT run_with_none('SELECT next_id(100)')",
	"SET pg_snowid.shards = ''; SELECT id_shard(0); SELECT next_id(100)",
	"SET pg_snowid.shards = ''; SELECT next_id(100); SELECT next_id(100)")
{
	my $said = ordinary('', $sql);
	like($said, refused('pg_snowid.shards'), "$sql: refused");
	unlike($said, qr/^\d{10,}$/m, 'and no ID is drawn');
}
# Undone before the library is needed, nothing is hidden.
like(ordinary('', "BEGIN; SET pg_snowid.shards = ''; ROLLBACK; SELECT next_id(100)"), $not_ours, 'SET and ROLLBACK: what the database says counts');
like(ordinary('', "SELECT set_config('pg_snowid.shards', '', true); SELECT next_id(100)"), $not_ours, 'set for a transaction that has ended, too');
# Kept for later sessions: only a superuser can.
for my $sql ("ALTER ROLE ordinary SET pg_snowid.shards = ''", "SET pg_snowid.shards = ''; ALTER ROLE ordinary SET pg_snowid.shards = ''",
	"ALTER ROLE ordinary IN DATABASE postgres SET pg_snowid.shards = ''", "ALTER DATABASE postgres SET pg_snowid.shards = ''",
	'ALTER DATABASE postgres RESET pg_snowid.shards')
{
	like(ordinary('', $sql), qr/ERROR: +42501: permission denied/, "$sql: refused, the library not loaded");
}
for my $sql ('ALTER DATABASE postgres RESET ALL', 'SELECT id_shard(0); ALTER DATABASE postgres RESET ALL')
{
	unlike(ordinary('', $sql), qr/ERROR/, "the database's owner: $sql");
	like(ordinary('', 'SELECT next_id(100)'), $not_ours, "leaves the database's shards");
}

# --- Stored before the library could refuse it: a list that is none allows no shard ---

my $none = qr/42501: +shard (7|100) is not for this database\nDETAIL: +It may draw from none\. In "7\.\.9", "7\.\.9" is not a shard or a range of shards from 0 to 8191\./;
sub no_shard
{
	my ($what) = @_;
	like(ordinary('', 'SELECT next_id(7)'), $none, "$what: no shard is allowed");
	like(ordinary('', 'SELECT next_id(7)'), qr/WARNING: .*invalid value for parameter "pg_snowid.shards": "7\.\.9"/, "$what: a warning says so")
	  unless $what eq 'preloaded, by the server';
	return;
}
sub of_database { $node->safe_psql('postgres', "ALTER DATABASE postgres @_"); return }
sub of_server { $node->append_conf('postgresql.conf', "pg_snowid.shards = '@_'"); $node->reload; return }
of_database(q(SET pg_snowid.shards = '7..9'));
no_shard('by the database');
of_server('7..9');
of_database('RESET pg_snowid.shards');
$node->poll_query_until('postgres', q(SELECT current_setting('pg_snowid.shards', true) = '7..9')) or die 'the setting is not seen';
no_shard('by the server');
of_database(q(SET pg_snowid.shards = '7..9'));

# --- Preloaded: PostgreSQL itself refuses ---

$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'");
$node->restart;
no_shard('preloaded, by the database');
like(ordinary('', $in_a_worker), $none, 'nor in a parallel worker');
like(error_of($node, 'postgres', q(ALTER DATABASE postgres SET pg_snowid.shards = '7..9')), qr/22023: +invalid value for parameter "pg_snowid.shards": "7\.\.9"\nDETAIL: +"7\.\.9" is not a shard/,
	'with the library such a list is refused');
of_database('RESET pg_snowid.shards');
no_shard('preloaded, by the server');
like(ordinary('', $in_a_worker), $none, 'nor in a parallel worker');
of_server('');
of_database(q(SET pg_snowid.shards = '7-9'));
for (@settings)
{
	my ($name, $value) = split /=/, $_, 2;
	like(ordinary("-c $name=$value"), qr/FATAL: .*(permission denied to set parameter "$name"|parameter "$name" cannot be (changed|set))/,
		"preloaded, -c $name: the client is refused");
	like(ordinary('', "SET $name = '$value'; SELECT next_id(100)"), $not_ours, "preloaded, SET $name: what the database says counts");
}
like(ordinary('', $in_a_worker), $not_ours, 'preloaded: in a parallel worker, too');
like(ordinary('', "SELECT run_with_none('SELECT next_id(100)')"), qr/ERROR: +42501: permission denied to set parameter "pg_snowid.shards"/, 'preloaded: nor does a function set it');
like(ordinary('', 'SELECT id_shard(next_id(8))'), qr/^8$/m, "preloaded: from the database's shards IDs are drawn");

done_testing();
