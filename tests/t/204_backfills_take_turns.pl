# Proves that two backfills of one table take turns, by a lock that only they take: a role without a right to the
# table takes every lock that SQL gives to everyone, and stops none. Who waits for the lock can be cancelled.
#
# It would fail if the lock were one of those that pg_advisory_lock() takes, if it were taken before the rights are
# looked at, or if pg_advisory_unlock_all() let it go.

use strict;
use warnings;

use Test::More;
use Snowid;

my $node = server('main');
$node->safe_psql('postgres', <<'SQL');
CREATE ROLE hostile;
CREATE TABLE photos (n integer PRIMARY KEY, created_at timestamptz, id bigint UNIQUE);
INSERT INTO photos SELECT n, '2020-01-01+00' FROM generate_series(1, 10) AS n;
SQL
my $call = "CALL snowid.backfill('photos', 'id', 'created_at', 5)";
my ($class, $table, $namespace) = split /\|/,
  $node->safe_psql('postgres', "SELECT 'pg_class'::regclass::oid, 'photos'::regclass::oid, 'snowid'::regnamespace::oid");

# The same numbers, in whatever way: which kind of lock they make is not for SQL to choose.
my $hostile = background($node, 'postgres');
$hostile->query_safe('SET SESSION AUTHORIZATION hostile');
$hostile->query_safe("SELECT pg_advisory_lock($_)")
  for "$class, $table", "$namespace, $table", "0, $table", "(${class}::bigint << 32) | $table", $table;
$hostile->query_safe('BEGIN');
$hostile->query("SELECT snowid_internal.lock_backfill('photos')");
like($hostile->{stderr}, qr/42501: +permission denied for table photos/, 'a role without rights does not get the lock');
is(error_of($node, 'postgres', "SET lock_timeout = '20s'; $call"), '', 'what it locks stops no backfill');
is($node->safe_psql('postgres', 'SELECT count(id) FROM photos'), '10', 'which fills all rows');

# One that is running
my $holder = background($node, 'postgres');
$holder->query_safe('BEGIN');
$holder->query_safe("SELECT snowid_internal.lock_backfill('photos'), snowid_internal.lock_backfill('photos'), pg_advisory_unlock_all()");
my $locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'userlock' AND classid = $class AND objid = $table AND ";
$node->safe_psql('postgres', 'UPDATE photos SET id = NULL');
my $waiting = background($node, 'postgres');
my $pid = $waiting->query_safe('SELECT pg_backend_pid()');
$waiting->{stdin} .= "$call;\n\\echo ended\n";
$waiting->{run}->pump_nb;
ok($node->poll_query_until('postgres', "$locks pid = $pid AND NOT granted", '1'), 'the second waits');
is($node->safe_psql('postgres', "$locks granted"), '1', 'for the first, as pg_locks shows');
is($node->safe_psql('postgres', 'SELECT count(id) FROM photos'), '0', 'and fills nothing');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
$waiting->{run}->pump until $waiting->{stdout} =~ /ended/;
like($waiting->{stderr}, qr/57014: +canceling statement due to user request/, 'it can be cancelled');
is($node->safe_psql('postgres', "$locks pid = $pid"), '0', 'which leaves no lock');

$waiting->{stdout} = '';
$waiting->{stdin} .= "$call;\n\\echo ended\n";
$waiting->{run}->pump_nb;
ok($node->poll_query_until('postgres', "$locks pid = $pid AND NOT granted", '1'), 'the second waits again');
$holder->query_safe('COMMIT');
$waiting->{run}->pump until $waiting->{stdout} =~ /ended/;
is($node->safe_psql('postgres', 'SELECT count(id) FROM photos'), '10', 'and goes on when the first has ended');
is($node->safe_psql('postgres', "$locks true"), '0', 'no lock is left');

$_->quit for $hostile, $holder, $waiting;
$node->stop;
done_testing();
