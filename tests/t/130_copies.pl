# Proves promise 1 for every way to copy a database: a base backup, recovery to a restore point and to a
# time, pg_dump in two formats, CREATE DATABASE ... TEMPLATE in both strategies. The copy is started, or
# the dump restored, where the clock is behind: inserts go on without a key conflict, with ids above all
# that the tables hold; an hour behind an error says so.
#
# It would fail if a copy came without the mark, if a dump didn't set it, or if a mark that a restore
# sets were never looked at.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
my $source = server('source', clock => $clock, init => [ allows_streaming => 1, has_archiving => 1 ]);
$source->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY DEFAULT next_id(5), n integer)');

# Inserts into t of a database and tests that all ids are above those that were there.
sub goes_on
{
	my ($name, $node, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($stored, $new) = (0, '');
	my $error = '';
	$node->psql($database // 'postgres', <<'SQL', stdout => \$new, stderr => \$error);
\set ON_ERROR_STOP 1
CREATE TEMP TABLE before AS SELECT max(id), count(*) FROM t;
WITH new AS (INSERT INTO t (n) SELECT g FROM generate_series(1, 20000) AS g RETURNING id)
SELECT count(DISTINCT id) || ' new, ' || count(*) FILTER (WHERE id > max) || ' above the ' || min(count) || ' of before' FROM new, before;
SQL
	is($error, '', "$name: inserts go on without an error");
	return like($new, qr/^20000 new, 20000 above the [1-9][0-9]{3,} of before$/, "$name: $new");
}

# The same where the clock is an hour behind: an error first, then, with the clock right, as above.
sub waits_for_clock
{
	my ($name, $its_clock, $node, $database) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	like(error_of($node, $database // 'postgres', 'INSERT INTO t (n) VALUES (0)'), $BEHIND, "$name: refused while the clock is an hour behind");
	$its_clock->runs(0);
	return goes_on($name, $node, $database);
}

# --- Base backup and recovery to a point ---

# Waits until the mark has been raised by those who insert.
sub raised
{
	my $before = the_mark($source);
	return wait_until('a raise', sub { the_mark($source) > $before });
}

# The backup is taken while sessions insert.
my @load = start_load($source, (script("INSERT INTO t (n) SELECT g FROM generate_series(1, 10) AS g RETURNING id;\n" x 20_000)) x 2);
wait_until('rows', sub { $source->safe_psql('postgres', 'SELECT count(*) > 2000 FROM t') eq 't' });
$source->backup('backup');
raised();
my $at_restore_point = $source->safe_psql('postgres', 'SELECT max(id) FROM t');
$source->safe_psql('postgres', "SELECT pg_create_restore_point('here')");
raised();
my $time = $source->safe_psql('postgres', 'SELECT clock_timestamp()');
$source->safe_psql('postgres', 'INSERT INTO t (n) VALUES (-1)');
raised();
$source->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'load'");
end_load(@load);
my $walfile = $source->safe_psql('postgres', 'SELECT pg_walfile_name(pg_current_wal_lsn())');
$source->safe_psql('postgres', 'SELECT pg_switch_wal()');
$source->poll_query_until('postgres', "SELECT last_archived_wal >= '$walfile' FROM pg_stat_archiver") or die 'WAL is not archived';
my $rows = $source->safe_psql('postgres', 'SELECT count(*) FROM t');

for my $case ([ 'base backup', undef, -10_000 ], [ 'base backup', undef, -3_600_000 ],
	[ 'restore point', "recovery_target_name = 'here'", -10_000 ], [ 'restore point', "recovery_target_name = 'here'", -3_600_000 ],
	[ 'point in time', "recovery_target_time = '$time'", -10_000 ])
{
	my ($what, $target, $ahead) = @$case;
	my $name = sprintf '%s, %d s behind', $what, -$ahead / 1000;
	my $copy = PostgreSQL::Test::Cluster->new($name =~ s/\W+/_/gr);
	$copy->init_from_backup($source, 'backup', $target ? (has_restoring => 1, standby => 0) : ());
	$copy->append_conf('postgresql.conf', 'archive_mode = off');
	$copy->append_conf('postgresql.conf', "$target\nrecovery_target_action = 'promote'") if $target;
	my $its_clock = Snowid::Clock->new;
	$its_clock->runs($ahead);
	start_again($copy, $its_clock);
	$copy->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die "$name: recovery does not end";
	my $there = $copy->safe_psql('postgres', 'SELECT count(*) FROM t');
	cmp_ok($there, '<', $rows, "$name: it has $there of the rows");
	cmp_ok($copy->safe_psql('postgres', 'SELECT max(id) FROM t'), '>=', $at_restore_point, "$name: up to the point") if $target;
	is($copy->safe_psql('postgres', 'SELECT count(*) FROM t WHERE n = -1'), '0', "$name: and none of later") if $target;
	$ahead > -60_000 ? goes_on($name, $copy) : waits_for_clock($name, $its_clock, $copy);
	$copy->stop('immediate');
	$copy->clean_node;
}

# --- pg_dump ---

my $dir = PostgreSQL::Test::Utils::tempdir('dumps');
$source->safe_psql('postgres', 'INSERT INTO t (n) VALUES (0)');
my $from = $source->connstr('postgres');
$source->command_ok([ 'pg_dump', '-d', $from, '-f', "$dir/plain.sql" ], 'pg_dump');
$source->command_ok([ 'pg_dump', '-Fc', '-d', $from, '-f', "$dir/custom" ], 'pg_dump -Fc');
my $mark = $source->safe_psql('postgres', 'SELECT last_value FROM snowid.high_water');
like(slurp_file("$dir/plain.sql"), qr/SELECT pg_catalog\.setval\('snowid\.high_water', $mark, (true|false)\);/, 'a dump sets the mark');

my %restore = (
	plain => sub { [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $_[0], '-f', "$dir/plain.sql" ] },
	custom => sub { [ 'pg_restore', '-e', '-d', $_[0], "$dir/custom" ] },
	'one transaction' => sub { [ 'pg_restore', '-e', '-1', '-d', $_[0], "$dir/custom" ] });
my $to_clock = Snowid::Clock->new;
my $to = server('restored', clock => $to_clock, extension => 0);
my $n = 0;
for my $ahead (-30_000, -3_600_000)
{
	for my $how (sort keys %restore)
	{
		my $name = sprintf '%s dump, %d s behind', $how, -$ahead / 1000;
		my $database = 'd' . ++$n;
		$to_clock->runs($mark + $ahead - unix_ms());    # behind the dump's mark, however long it has been made
		start_again($to, $to_clock) if !$to->{_pid};
		$to->safe_psql('postgres', "CREATE DATABASE $database");
		$to->command_ok($restore{$how}->($to->connstr($database)), "$name: restored");
		like(error_of($to, $database, 'INSERT INTO t (n) VALUES (0)'), $SET_AHEAD, "$name: refused, the mark is far ahead of the clock");
		if ($ahead > -60_000)
		{
			$to->safe_psql($database, 'SELECT snowid.accept_high_water()');
			goes_on("$name, accepted", $to, $database);
		}
		else
		{
			$to_clock->runs(0);
			goes_on("$name, then the clock is right", $to, $database);
		}
		$to->stop;    # the cells, which all databases share, are forgotten
	}
}

# Where ids are being made, by a clock that is behind: the restored mark counts when the server next
# looks at it, at the latest when the clock is past the mark of before.
$to_clock->runs($mark - 50_000 - unix_ms());
start_again($to, $to_clock);
$to->safe_psql('postgres', 'CREATE DATABASE used');
my $session = background($to, 'used');
$session->query_safe('CREATE EXTENSION pg_snowid');
$session->query_safe('SELECT next_id(5)');
my $of_before = the_mark($to, 'used');
$to->command_ok($restore{plain}->($to->connstr('used')), 'a dump is restored where the extension is in use');
$session->quit;
past_mark($to, $of_before);
like(refused($to, 5, 'used'), $SET_AHEAD, 'a dump restored where the extension is in use: refused');
$to->safe_psql('used', 'SELECT snowid.accept_high_water()');
goes_on('a dump restored where the extension is in use', $to, 'used');
$to->stop;

# --- CREATE DATABASE ... TEMPLATE ---

for my $strategy ('wal_log', 'file_copy')
{
	$source->safe_psql('template1', "CREATE DATABASE $strategy TEMPLATE postgres STRATEGY $strategy");
}
$source->stop('immediate');
$clock->runs(-10_000);
start_again($source, $clock);
goes_on("template, $_, crash, 10 s behind", $source, $_) for 'wal_log', 'file_copy', 'postgres';
$source->stop;
done_testing();
