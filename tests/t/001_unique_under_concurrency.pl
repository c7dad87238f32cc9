# Proves promise 1, unique, and 2, ordered, while sessions compete: 16 at once, 200,000 ids each, from
# one shard, from a mix of shards and from one snowflake worker, singly and in blocks. All are
# distinct, those of a shard increase within each session, and no millisecond has more than its
# sequence holds. The ids are those that the clients received.
#
# It would fail if two callers could get one value, if a block overlapped another's, if a row of
# snowid.generators were read in two steps, or if ids were made faster than there are milliseconds for: they
# would carry times later than the clock's.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

use constant { SESSIONS => 16, EACH => 200_000 };

my $node = server('main', conf => "pg_snowid.datacenter_id = 3\npg_snowid.worker_id = 9");

# Each session copies out the ids of one of the queries, in turn.
sub contest
{
	my ($name, $most, $snowflake, @queries) = @_;
	my @jobs = map { [ 'postgres', "COPY ($queries[$_ % @queries]) TO STDOUT" ] } 0 .. SESSIONS - 1;
	my $before = unix_ms();
	my @files = at_once($node, @jobs);
	my $after = unix_ms();
	my $is = survey(\@files, snowflake => $snowflake);

	is($is->{ids}, SESSIONS * EACH, "$name: $is->{ids} ids in $is->{span_ms} ms");
	is($is->{repeated}, 0, "$name: $is->{distinct} of them distinct, $is->{repeated} repeated");
	is($is->{disordered}, 0, "$name: in each session each id is greater than the shard's last");
	at_most($is->{fullest}, $most, "$name: ids in the fullest millisecond");
	cmp_ok($is->{at_once}, '>', SESSIONS / 2, "$name: $is->{at_once} sessions drew at one moment");
	cmp_ok($is->{first_ms}, '>=', $before, "$name: no id is from before the start");
	cmp_ok($is->{last_ms}, '<=', $after, "$name: no id is from after the end");
	unlink @files;
	return $is;
}

my $rows = EACH;
my $singly = "SELECT next_id(5) FROM generate_series(1, $rows)";
my $in_blocks = 'SELECT id FROM (VALUES (1), (999), (9000), (190000)) AS block (size), next_ids(5, size) AS id';
my $is = contest('one shard, one by one', 1024, 0, $singly);
cmp_ok($is->{span_ms}, '>=', SESSIONS * EACH / 1024, 'a shard makes no more than 1024 ids a millisecond');
contest('one shard, in blocks and one by one', 1024, 0, $in_blocks, $singly);

contest('64 shards, one by one and in blocks', 1024, 0,
	"SELECT next_id(n * 7 % 64 * 130) FROM generate_series(1, $rows) AS n",
	"SELECT id FROM generate_series(1, 200) AS n, next_ids(n * 7 % 64 * 130, $rows / 200) AS id");

contest('one snowflake worker, one by one', 4096, 1, "SELECT snowflake_id() FROM generate_series(1, $rows)");
contest('one snowflake worker, in blocks and one by one', 4096, 1,
	'SELECT id FROM (VALUES (1), (999), (9000), (190000)) AS block (size), snowflake_ids(size) AS id',
	"SELECT snowflake_id(3, 9) FROM generate_series(1, $rows)");

# Meanwhile a row of the view shows one moment of its generator.
$node->safe_psql('postgres', <<'SQL');
CREATE FUNCTION a_row_is_torn() RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM snowid.generators WHERE kind = 'shard' AND last_at IS DISTINCT FROM id_timestamp(last_id));
END $$
SQL
my ($torn) = at_once($node, [ 'postgres', 'SELECT count(*) FILTER (WHERE a_row_is_torn()) FROM generate_series(1, 2000)' ],
	([ 'postgres', "COPY ($in_blocks) TO STDOUT" ]) x 4);
is(slurp_file($torn), "0\n", 'what the view says of a generator is of one moment');

is($node->safe_psql('postgres', 'SELECT sum(clock_regressions) FROM snowid.generators'),
	'0', 'the clock was never found behind: no id ran ahead of it');

done_testing();
