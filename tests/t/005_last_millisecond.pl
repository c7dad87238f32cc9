# Proves promise 7 at the end of time: in the last millisecond whose ids are positive generating works
# to the last sequence, which is the greatest bigint, and one past it is refused with SQLSTATE 2200H,
# at once, for next_id (2045) and for snowflake_id (2080) alike. A later epoch goes on.
#
# It would fail if an id got negative, if the time wrapped around, or if a full last millisecond were
# waited for.

use strict;
use warnings;

use Test::More;
use Snowid;

my $exhausted = qr/2200H: +the epoch has no positive IDs left\nDETAIL: +Its last ID is of ([-\d]+ [\d:.]+\+00)\.\nHINT: +Generate with a later epoch\./;

my $clock = Snowid::Clock->new;
# 2045-11-03 19:53:47.775 UTC
my $last = 1293840000000 + 2**40 - 1;
$clock->stands($last);
my $node = server('main', clock => $clock, conf => 'pg_snowid.sequence_spread = 0');

sub refused
{
	my ($sql, $instant) = @_;
	my $before = monotonic_ms();
	my $error = error_of($node, 'postgres', $sql);
	like($error, $exhausted, "$sql is refused");
	is($error =~ $exhausted && $1, $instant, 'and says when the last id was') if defined $instant;
	at_most(monotonic_ms() - $before, 2000, 'at once, in ms with a session made for it');
	return;
}

# --- next_id ---

is( $node->safe_psql('postgres', "SET timezone = 'UTC'; SELECT clock_timestamp() < '2045-11-03 19:53:47.776', id_timestamp(next_id(5))"),
	't|2045-11-03 19:53:47.775+00', 'next_id works in the last millisecond');
my $id = $node->safe_psql('postgres', 'SELECT next_id(5)');
cmp_ok($id, '>', 0, "its id is positive: $id");
is($node->safe_psql('postgres', 'SELECT id = make_id(id_timestamp(id), 5, id_sequence(id)) FROM next_id(5) AS id'),
	't', 'make_id makes the same');
is( $node->safe_psql('postgres', 'SELECT count(*), min(id_sequence(id)), max(id) FROM next_ids(8191, 1024) AS id'),
	'1024|0|9223372036854775807', 'the last shard gives out its last 1024 ids, to the greatest bigint');
refused('SELECT next_id(8191)', '2045-11-03 19:53:47.775+00');
refused('SELECT count(*) FROM next_ids(8190, 1025)');

my $state = $node->safe_psql('postgres', 'SELECT * FROM snowid.generators WHERE shard_id = 5');
$clock->stands($last + 1);
refused("SELECT $_", '2045-11-03 19:53:47.775+00') for 'next_id(5)', 'next_id(4711)', 'next_ids(5, 3)';
is($node->safe_psql('postgres', 'SELECT * FROM snowid.generators WHERE shard_id = 5'), $state, 'what is refused changes no state');
is($node->safe_psql('postgres', "SELECT count(*) FROM snowid.generators WHERE shard_id = 4711"), '0', 'nor makes any');
is( $node->safe_psql('postgres', "SET timezone = 'UTC'; SELECT id > 0, id_timestamp(id, '2040-01-01+00') FROM next_id(6, '2040-01-01+00') AS id"),
	't|2045-11-03 19:53:47.776+00', 'an epoch of 2040 goes on');
is( $node->safe_psql('postgres', "SET timezone = 'UTC'; SELECT id > 0, snowflake_timestamp(id) FROM snowflake_id(1, 1) AS id"),
	't|2045-11-03 19:53:47.776+00', 'snowflake_id goes on');
$clock->stands($last);
cmp_ok($node->safe_psql('postgres', 'SELECT next_id(5)'), '>', $id, 'back in the last millisecond it works again');

# --- snowflake_id: 2080-07-10 17:30:30.208 UTC ---

$last = 1288834974657 + 2**41 - 1;
$clock->stands($last);
$clock->over(sub { $node->restart });
# 35 years later the administrator has to say that the clock is right.
$node->safe_psql('postgres', 'SELECT snowid.accept_clock()');
is( $node->safe_psql('postgres', "SET timezone = 'UTC'; SELECT clock_timestamp() < '2080-07-10 17:30:30.209', snowflake_timestamp(snowflake_id(3, 9))"),
	't|2080-07-10 17:30:30.208+00', 'snowflake_id works in the last millisecond');
is( $node->safe_psql('postgres', 'SELECT max(snowflake_id(31, 31)) FROM generate_series(1, 4096)'),
	'9223372036854775807', 'the last worker gives out its last 4096 ids, to the greatest bigint');
refused('SELECT snowflake_id(31, 31)', '2080-07-10 17:30:30.208+00');
refused('SELECT next_id(5)', '2045-11-03 19:53:47.775+00');
$clock->stands($last + 1);
refused("SELECT $_", '2080-07-10 17:30:30.208+00') for 'snowflake_id(3, 9)', 'snowflake_id(0, 0)';
is( $node->safe_psql('postgres', "SET timezone = 'UTC'; SELECT id > 0, snowflake_timestamp(id, '2040-01-01+00') FROM snowflake_id(0, 0, '2040-01-01+00') AS id"),
	't|2080-07-10 17:30:30.209+00', 'an epoch of 2040 goes on');
$clock->stands($last);
cmp_ok($node->safe_psql('postgres', 'SELECT snowflake_id(3, 9)'), '>', 0, 'back in the last millisecond it works again');

done_testing();
