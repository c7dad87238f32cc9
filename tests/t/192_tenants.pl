# Proves promise 8 for databases with owners of their own on one server, which share its shards: an owner who
# advances as far as he may, again and again, or sets the mark of his database, puts nobody else's IDs further
# ahead of the clock than a server's mark leads; when the clock then steps back, the others go on; after a crash
# shards that were never used don't start ahead because of him. With pg_snowid.shards set he moves his own shards
# and no others. He sees none of the others' IDs.
#
# It would fail if an ordinary user advanced to pg_snowid.max_clock_regression, if a mark that no server wrote were
# a floor for the shared cells, or if a shard that isn't a database's could be reached from it.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
my $now = unix_ms();
$clock->stands($now);
my $node = server('main', clock => $clock, extension => 0);
for my $tenant ('a', 'b')
{
	$node->safe_psql('postgres', "CREATE ROLE $tenant LOGIN");
	$node->safe_psql('postgres', "CREATE DATABASE $tenant OWNER $tenant");
	$node->safe_psql($tenant, "SET ROLE $tenant; CREATE EXTENSION pg_snowid");
}

# What the owner of a database gets in it.
sub of { my ($tenant, $sql) = @_; return $node->safe_psql($tenant, "SET ROLE $tenant; $sql") }
sub refused_to { my ($tenant, $sql) = @_; return error_of($node, $tenant, "SET ROLE $tenant; $sql") }
# How far ahead of the clock a tenant's ids of these shards stand at most.
sub ahead
{
	my ($tenant, $from, $to) = @_;
	my @ids = split /\n/, of($tenant, "SELECT next_id(shard) FROM generate_series($from, $to) AS shard");
	my $greatest = (sort { $b <=> $a } map { (fields($_))[0] } @ids)[0];
	return $greatest - $now;
}
sub crash
{
	my ($at) = @_;
	$node->stop('immediate');
	$clock->stands($now = $at);
	start_again($node, $clock);
	return;
}

# What a server's mark leads by, and a step for each crash or advance beyond it.
my $lead = 2000;
my $step = 250;

# --- He advances ---

is(ahead('b', 0, 99), 0, "b's IDs are of the clock's time");
for my $ms (2001, 20_000, 59_000)
{
	like(refused_to('a', "SELECT snowid.advance(make_id(clock_timestamp() + interval '$ms ms', 5))"),
		qr/22023: +ID is too far in the future to advance to\nDETAIL: .*; 2000 ms are tolerated\./, "a may not advance by $ms ms");
	like(refused_to('a', "SELECT snowid.advance_snowflake(make_snowflake_id(clock_timestamp() + interval '$ms ms', 5, 5))"),
		qr/22023: .*; 2000 ms are tolerated\./s, "nor a worker");
}
of('a', <<'SQL') for 1 .. 3;
SELECT count(snowid.advance(make_id(clock_timestamp() + interval '2 s', shard, 1023))) FROM generate_series(0, 99) AS shard, generate_series(1, 20);
SELECT count(snowid.advance_snowflake(make_snowflake_id(clock_timestamp() + interval '2 s', 5, 5, 4095))) FROM generate_series(1, 20);
SQL
at_most(ahead('b', 0, 99), $lead + 1, "a has advanced all of b's shards as far as he may, again and again: ms by which b is ahead");
is(ahead('b', 100, 199), 0, 'in shards that he left alone it is not');
$clock->stands($now -= 10_000);
at_most(ahead('b', 0, 199), 10_000 + $lead + 1, 'the clock steps back 10 s: b goes on, ms ahead');
crash($now + 10_000);
of('a', 'SELECT next_id(shard) FROM generate_series(200, 299) AS shard');
at_most(ahead('b', 200, 299), $lead + 2 * $step, 'after a crash, in shards that a was the first to use: ms ahead');

# --- He sets his mark ---

crash($now + 60_000);
is(ahead('a', 0, 9) . ' ' . ahead('b', 0, 9), '0 0', 'a minute later both are at the clock');
my $far = $now + 59_000;
of('a', "SELECT setval('snowid.high_water', $far)");
$clock->stands($now += 3000);
for my $sql ('SELECT next_id(5)', 'SELECT next_ids(300, 10)', 'SELECT snowflake_id(5, 5)', 'SELECT snowid.advance(make_id(clock_timestamp(), 5))')
{
	like(refused_to('a', $sql), $SET_AHEAD, "a has set his mark 59 s ahead: $sql is refused to him");
}
is(ahead('b', 0, 99), 0, 'b is at the clock');
like(refused_to('a', 'SELECT snowid.accept_high_water()'), qr/42501: +permission denied/, 'a cannot accept it');
crash($now);
like(refused_to('a', 'SELECT next_id(5)'), $SET_AHEAD, 'after a crash it is refused to him');
at_most(ahead('b', 0, 499), $lead + $step, 'and b is as far ahead as its own mark, also in shards never used: ms');
like(refused_to('a', 'DROP EXTENSION pg_snowid; CREATE EXTENSION pg_snowid; SELECT next_id(5)'), qr/^$/, 'created anew, the extension goes on near the clock');
at_most(ahead('a', 0, 499), $lead + 2 * $step, 'so does a, ms ahead');

# --- He looks ---

is(of('a', 'SELECT count(*) > 0, count(last_id), count(last_at) FROM snowid.generators'), 't|0|0', "a sees none of the last IDs that b may have drawn");
is(of('a', 'SELECT last_at IS NULL FROM snowid.status'), 't', 'nor the time of the last one');

# --- Each has shards of his own ---

$node->safe_psql('postgres', "ALTER DATABASE a SET pg_snowid.shards = '1000-1009'; ALTER DATABASE b SET pg_snowid.shards = '1010-1999'");
crash($now + 60_000);
is(ahead('b', 1010, 1019), 0, 'b has shards of its own: it is at the clock');
# Nor further in those: the mark that remembers it would hold for the workers too, which b draws as well.
like(refused_to('a', "SELECT snowid.advance(make_id(clock_timestamp() + interval '2001 ms', 1000))"), qr/22023: .*; 2000 ms are tolerated\./s, 'a may not advance its own by more');
of('a', "SELECT snowid.advance(make_id(clock_timestamp() + interval '2 s', shard)) FROM generate_series(1000, 1009) AS shard");
is(ahead('a', 1000, 1009), 2000, 'a advances its own by 2 s');
for my $sql ('SELECT next_id(1010)', 'SELECT next_ids(1010, 1000)', 'SELECT snowid.advance(make_id(clock_timestamp(), 1010))', 'SELECT next_id(0)')
{
	like(refused_to('a', $sql), qr/42501: +shard \d+ is not for this database\nDETAIL: +It may draw from the shards 1000-1009 only\./, "and reaches no other: $sql");
}
is(ahead('b', 1010, 1099), 0, 'b is at the clock');
crash($now);
cmp_ok(ahead('a', 1000, 1009), '>=', 2000, 'after a crash a goes on from its mark, which the server wrote');
at_most(ahead('b', 1010, 1999), $lead + $step, 'and b from its own, also in shards never used: ms');
is(of('a', "SELECT string_agg(DISTINCT shard_id::text, ' ' ORDER BY shard_id::text), count(*) = count(last_id) FROM snowid.generators WHERE kind = 'shard'"),
	join(' ', 1000 .. 1009) . '|t', "a sees the last IDs of its own shards, and no other's");

$node->stop;
done_testing();
