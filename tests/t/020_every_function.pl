# Proves of every function of the extension, listed from the catalogue, that whatever it is called with it ends, with a
# result or with an error that has an SQLSTATE of its own: NULL, limits, infinity, huge and empty text, arrays of other
# dimensions, rows of NULLs, relations of another kind and of none; in a transaction that may write, in one that may
# only read, in a parallel worker, on a standby, out of time, and cancelled at any moment.
#
# It would fail if a LEAKPROOF function raised an error, if a function panicked (XX000, and a crash where nothing
# catches it), left an internal error of PostgreSQL's to its caller, or waited for ever.

use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidCalls;

my $node = server('main', init => [ allows_streaming => 1 ]);
make_fixtures($node, 'postgres', 'postgres', 'app');
$node->safe_psql('postgres', 'CREATE TABLE app.one AS SELECT 1 AS n; ANALYZE app.one');

my @functions = extension_functions($node, 'postgres');
my @calls = map { my $function = $_; map { call($function, @$_) } edge_arguments('app', $function) } @functions;
cmp_ok(scalar @functions, '>', 80, scalar(@functions) . ' functions');
cmp_ok(scalar @calls, '>', 10 * @functions, scalar(@calls) . ' calls');

$node->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'backup', has_streaming => 1);
$standby->start;
my %started = map { $_->name => $_->safe_psql('postgres', 'SELECT pg_postmaster_start_time()') } $node, $standby;

# Runs calls, and tests how they ended. Returns how many of them did so in each way.
sub all_end
{
	my ($server, $what, $prelude, $cancelled, @statements) = @_;
	my ($outcomes, $errors) = outcomes($server, 'postgres', "SET statement_timeout = '60s'; $prelude", @statements);
	is(@$outcomes, @statements, "$what: all calls came back");
	my @internal = map { "$statements[$_]: $outcomes->[$_]" } grep { $outcomes->[$_] =~ /^XX/ } 0 .. $#$outcomes;
	is(join("\n", @internal), '', "$what: none had an internal error");
	unlike($errors, qr/panicked|backtrace/i, "$what: no error tells of the program's inside");
	my %ended;
	$ended{$_}++ for @$outcomes;
	is($ended{57014} // 0, 0, "$what: none was still running after a minute") unless $cancelled;
	note "$what: ", join ', ', map { "$_ $ended{$_}" } sort keys %ended;
	return \%ended;
}

# --- Where it may write, where it may only read, and on a standby ---

my $plain = all_end($node, 'read and write', 'BEGIN', 0, @calls);
cmp_ok($plain->{'00000'}, '>', @calls / 4, 'many of them succeed');
cmp_ok(keys %$plain, '>', 10, 'and others end in many ways');
all_end($node, 'read only', 'BEGIN READ ONLY', 0, @calls);
$node->wait_for_catchup($standby);
my $refused = all_end($standby, 'on a standby', 'BEGIN', 0, @calls);
cmp_ok($refused->{25006}, '>', 10, 'there some are refused as writing');

# --- Procedures with no transaction around them, where they may commit ---

my $before = $node->safe_psql('postgres', 'SELECT count(*) FROM app.rows WHERE id IS NULL');
cmp_ok($before, '>', 0, 'there are rows without an id');
my @procedures = map { my $function = $_; map { call($function, @$_) } edge_arguments('app', $function) } grep { $_->{kind} eq 'p' } @functions;
my $committed = all_end($node, 'outside a transaction', '', 0, @procedures);
cmp_ok($committed->{'00000'}, '>', 0, 'some succeed');
is($committed->{'2D000'} // 0, 0, 'none was refused to commit');
is($node->safe_psql('postgres', 'SELECT count(*) FROM app.rows WHERE id IS NULL'), 0, 'the rows have their ids');

# --- Where row security may run them on rows that are hidden: an error would tell of these ---

my @leakproof = grep { $_->{leakproof} } @functions;
my $total = all_end($node, 'leakproof', 'BEGIN', 0, map { my $function = $_; map { call($function, @$_) } edge_arguments('app', $function) } @leakproof);
is(join(' ', keys %$total), '00000', scalar(@leakproof) . ' functions are LEAKPROOF: no argument makes one fail');

# --- In a parallel worker ---

my $parallel = (major($node) < 16 ? 'force_parallel_mode' : 'debug_parallel_query') . ' = on';
my @safe = grep { $_->{parallel} eq 's' && $_->{kind} eq 'f' && $_->{name} ne 'snowid.planner_support' } @functions;
my @in_rows = map { my $function = $_; map { call_in_row('app.one', $function, @$_) } edge_arguments('app', $function) } @safe;
all_end($node, 'in a parallel worker', "SET $parallel; BEGIN", 0, @in_rows);
my $plans = $node->safe_psql('postgres', join ";\n", "SET $parallel", map { 'EXPLAIN (COSTS OFF) ' . call_in_row('app.one', $_, sane_arguments('app', $_)) } @safe);
is(scalar(() = $plans =~ /^Gather$/mg), scalar @safe, 'where each of the ' . @safe . ' that are parallel safe was called');

# --- Out of time, and cancelled ---

my $late = all_end($node, 'out of time', 'SET statement_timeout = 1; BEGIN', 1, @calls);
cmp_ok($late->{57014}, '>', 0, 'some were');
my $stop = $node->background_psql('postgres');
$stop->query_until(qr/cancelling/, <<'SQL');
\echo cancelling
SET log_min_messages = fatal;
DO $$
BEGIN
    WHILE NOT EXISTS (SELECT FROM pg_class WHERE relname = 'all_were_called') LOOP
        PERFORM pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'called' AND state = 'active';
        PERFORM pg_stat_clear_snapshot(), pg_sleep(0.002);
    END LOOP;
END $$;
SQL
my $cancelled = all_end($node, 'cancelled', "SET application_name = 'called'; BEGIN", 1, @calls);
cmp_ok($cancelled->{57014}, '>', 0, 'some were');
$node->safe_psql('postgres', 'CREATE TABLE all_were_called ()');
$stop->quit;

# --- And all the time the servers ran ---

for my $server ($node, $standby)
{
	my $name = $server->name;
	is($server->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started{$name}, "$name has not been restarted");
	unlike(slurp_file($server->logfile), qr/terminated by signal|terminating any other active|PANIC|panicked|backtrace/, "$name: nothing crashed");
}

done_testing();
