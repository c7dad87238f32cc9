# Proves that as many databases as pg_snowid.max_databases says make IDs, no more and no fewer: one past them is
# refused by an error that names the setting, whoever asks; an entry is taken over only when its database is
# dropped, so that a session goes on with its own; a start with a greater setting is the cure. With the default
# all of pg_snowid's shared memory is below 1 MB.
#
# It would fail if the size of the block or the number of its entries were fixed, or if an entry in use were given
# away.

use strict;
use warnings;

use Test::More;
use Snowid;

my $node = server('main', extension => 0);
sub allocated { return $node->safe_psql('postgres', "SELECT sum(allocated_size) FROM pg_shmem_allocations WHERE name LIKE 'pg\_snowid%'") }
my $default = allocated();
at_most($default, 1_000_000, 'bytes of shared memory by default');

sub restart_with
{
	my ($databases) = @_;
	$node->append_conf('postgresql.conf', "pg_snowid.max_databases = $databases");
	$node->restart;
	return;
}

restart_with(10_000);
cmp_ok(allocated() - $default, '>=', 64 * (10_000 - 4096), 'more entries take more of it');
restart_with(3);
$node->safe_psql('postgres', "CREATE DATABASE d$_") for 1 .. 5;
$node->safe_psql("d$_", 'CREATE EXTENSION pg_snowid; SELECT next_id(5)') for 1 .. 3;
my @sessions = map { background($node, "d$_") } 2 .. 3;
my @last = map { $_->query_safe('SELECT next_id(5)') } @sessions;

my $refused = qr/ERROR: +53400: too many databases generate IDs on this server\nDETAIL: +There is room for 3, and all of those exist\.\nHINT: +Raise "pg_snowid.max_databases" and restart the server/;
like(error_of($node, 'd4', 'CREATE EXTENSION pg_snowid'), $refused, 'a fourth database is refused, a superuser too');
like(error_of($node, 'd4', 'CREATE EXTENSION pg_snowid'), $refused, 'again');
is($node->safe_psql("d$_", 'SELECT id_shard(next_id(5))'), '5', "d$_ goes on") for 1 .. 3;

# The place of one that is dropped.
$node->safe_psql('postgres', 'DROP DATABASE d1');
is($node->safe_psql('d4', 'CREATE EXTENSION pg_snowid; SELECT id_shard(next_id(5))'), '5', 'one is dropped: the fourth has its place');
like(error_of($node, 'd5', 'CREATE EXTENSION pg_snowid'), $refused, 'a fifth has none');
for my $n (0, 1)
{
	cmp_ok($sessions[$n]->query_safe('SELECT next_id(5)'), '>', $last[$n], 'a session that was there before goes on with its own entry');
}
my $mark = $node->safe_psql('d4', 'SELECT last_value FROM snowid.high_water');
cmp_ok($mark, '>', (fields($node->safe_psql('d4', 'SELECT next_id(5)')))[0], 'the fourth has a mark of its own');
$_->quit for @sessions;

# The cure.
restart_with(4);
is($node->safe_psql("d$_", 'SELECT id_shard(next_id(5))'), '5', "raised, after a restart: d$_ goes on") for 2 .. 4;
is($node->safe_psql('d5', 'CREATE EXTENSION pg_snowid; SELECT id_shard(next_id(5))'), '5', 'and so does the fifth');

$node->stop;
done_testing();
