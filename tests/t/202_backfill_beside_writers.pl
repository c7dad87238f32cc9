# Proves that snowid.backfill and those who use the table meanwhile leave each other's work whole: sessions
# that insert with the default of the same shard, update, delete and insert rows without an id, and a second
# backfill. And, one by one, what a batch meets: a row that is locked, changed or deleted, an id that another
# transaction has inserted and not committed yet, a deadlock.
#
# It would fail if a batch gave an id that it can't see, skipped a row or lost an update.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $node = server('main');

# A backfill in a session of its own, which is found waiting for a lock.
sub waiting_backfill
{
	my ($table, $setting) = @_;
	my $session = background($node, 'postgres');
	$session->query_safe($setting) if $setting;
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	$session->{stdin} .= "CALL snowid.backfill('$table', 'id', 'created_at', 5);\n\\echo filled\n";
	$session->{run}->pump_nb;
	$node->poll_query_until('postgres', "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = $pid")
	  or die 'the backfill does not wait';
	return $session;
}

sub finished
{
	my ($session, $name) = @_;
	PostgreSQL::Test::Utils::system_or_bail('true');
	IPC::Run::pump_nb($session->{run});
	$session->{run}->pump until $session->{stdout} =~ /filled/;
	unlike($session->{stderr}, qr/ERROR/, "$name: it goes on");
	$session->quit;
	return;
}

sub rows_of
{
	my ($table) = @_;
	return $node->safe_psql('postgres', "SELECT n, note, id_timestamp(id) = created_at, id_sequence(id) FROM $table ORDER BY n");
}

for my $unique ('UNIQUE', '')
{
	my $kind = $unique ? 'with a unique index' : 'without one';
	my $table = $unique ? 'indexed' : 'plain';
	$node->safe_psql('postgres', <<"SQL");
CREATE TABLE $table (n integer PRIMARY KEY, created_at timestamptz, note text, id bigint $unique);
INSERT INTO $table SELECT n, '2020-01-01+00', 'old' FROM generate_series(1, 3) AS n;
SQL
	my $other = background($node, 'postgres');

	# Nobody but the other knows of the id, until it commits.
	$other->query_safe('BEGIN');
	$other->query_safe("INSERT INTO $table VALUES (0, '2020-01-01+00', 'taken', make_id('2020-01-01+00', 5, 1))");
	my $backfill = waiting_backfill($table);
	$other->query_safe('COMMIT');
	finished($backfill, "$kind: an id not yet committed");
	is(rows_of($table), "0|taken|t|1\n1|old|t|0\n2|old|t|2\n3|old|t|3", "$kind: an id not yet committed is not given again");

	# Rows that others hold
	$node->safe_psql('postgres', "INSERT INTO $table SELECT n, '2021-01-01+00', 'old' FROM generate_series(11, 14) AS n");
	$other->query_safe('BEGIN');
	$other->query_safe("UPDATE $table SET note = 'new' WHERE n = 11");
	$other->query_safe("UPDATE $table SET created_at = '2021-01-02+00' WHERE n = 12");
	$other->query_safe("DELETE FROM $table WHERE n = 13");
	$backfill = waiting_backfill($table);
	$other->query_safe('COMMIT');
	finished($backfill, "$kind: rows that are held");
	like(rows_of($table), qr/^11\|new\|t\|0\n12\|old\|t\|0\n14\|old\|t\|\d$/m, "$kind: rows that are held keep what was done to them");
	$other->quit;
}

# A row that moves to another partition while the backfill waits for it.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE part (n integer, created_at timestamptz, note text, id bigint UNIQUE) PARTITION BY RANGE (id);
CREATE TABLE part_old PARTITION OF part FOR VALUES FROM (0) TO (id_floor('2022-01-01+00'));
CREATE TABLE part_rest PARTITION OF part DEFAULT;
INSERT INTO part SELECT n, '2021-01-01+00', 'old' FROM generate_series(1, 3) AS n;
SQL
my $mover = background($node, 'postgres');
$mover->query_safe('BEGIN');
$mover->query_safe("UPDATE part SET id = make_id('2021-01-01+00', 5, 1) WHERE n = 2");
my $mover_backfill = waiting_backfill('part');
$mover->query_safe('COMMIT');
finished($mover_backfill, 'a row that moves');
is(rows_of('part'), "1|old|t|0\n2|old|t|1\n3|old|t|2", 'a row that moves keeps its id, and the others get theirs');
$mover->quit;

# A deadlock of which the backfill is the victim.
$node->safe_psql('postgres', "INSERT INTO indexed SELECT n, '2022-01-01+00', 'old' FROM generate_series(21, 22) AS n");
my $other = background($node, 'postgres');
$other->query_safe(q(SET deadlock_timeout = '10min'));
$other->query_safe('BEGIN');
$other->query_safe("UPDATE indexed SET note = 'new' WHERE n = 22");
my $backfill = waiting_backfill('indexed', q(SET deadlock_timeout = '2s'));
$other->query_safe("UPDATE indexed SET note = 'new' WHERE n = 21");
$other->query_safe('COMMIT');
finished($backfill, 'a deadlock');
like(rows_of('indexed'), qr/^21\|new\|t\|0\n22\|new\|t\|1$/m, 'a deadlock: both have done their work');
cmp_ok(log_count($node, qr/deadlock detected/), '==', 0, 'and none has failed');
$other->quit;

# All at once
for my $table ('indexed', 'plain')
{
	$node->safe_psql('postgres', <<"SQL");
TRUNCATE $table;
CREATE SEQUENCE ${table}_n;
ALTER TABLE $table ALTER COLUMN id SET DEFAULT next_id(5), ALTER COLUMN n SET DEFAULT nextval('${table}_n'),
    ALTER COLUMN created_at SET DEFAULT clock_timestamp();
INSERT INTO $table (created_at, note, id) SELECT now() - interval '1 s' + g / 2000 * interval '1 ms', 'old', NULL FROM generate_series(1, 30000) AS g;
SQL
	my $fill = "CALL snowid.backfill('$table', 'id', 'created_at', 5, batch_size => 300)";
	my $loop = sub {
		my ($times, $body) = @_;
		return "DO 'BEGIN FOR i IN 1 .. $times LOOP $body; COMMIT; END LOOP; END'";
	};
	at_once($node,
		[ 'postgres', $fill ],
		[ 'postgres', $fill ],
		[ 'postgres', $loop->(2000, "INSERT INTO $table (note) VALUES (''live'')") ],
		[ 'postgres', $loop->(2000, "INSERT INTO $table (note) SELECT ''live'' FROM generate_series(1, 10)") ],
		[ 'postgres', $loop->(500, "INSERT INTO $table (note, id) VALUES (''late'', NULL)") ],
		[ 'postgres', $loop->(2000, "UPDATE $table SET note = ''updated'' WHERE n = 1 + i * 14") ],
		[ 'postgres', $loop->(1000, "DELETE FROM $table WHERE n = 2 + i * 28") ]);
	$node->poll_query_until('postgres', "SELECT max(created_at) < clock_timestamp() - interval '1 s' FROM $table");
	$node->safe_psql('postgres', $fill);
	is( $node->safe_psql('postgres', qq(
			SELECT count(*), count(id), count(DISTINCT id), count(*) FILTER (WHERE note = 'live'),
			       count(*) FILTER (WHERE note = 'late'), count(*) FILTER (WHERE note = 'updated'), min(id_shard(id)), max(id_shard(id))
			  FROM $table)),
		'51500|51500|51500|22000|500|2000|5|5', "all at once, $table: each row has an id of its own");
	is( $node->safe_psql('postgres', qq(
			SELECT count(*) FROM $table WHERE id_timestamp(id) < date_trunc('ms', created_at))),
		'0', "all at once, $table: none is older than its row");
}

done_testing();
