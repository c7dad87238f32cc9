# Proves that snowid.backfill can be stopped at any moment and started again: by pg_terminate_backend and by
# a crash of the server. What is there then is the oldest rows with their ids, and what the last run has made
# is, id by id, what one run without a break makes.
#
# It would fail if a batch were not one transaction, if a run remembered something outside of the table, if it
# held a lock that outlives it, or if the ids depended on where the batches end.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $node = server('main', conf => "log_min_messages = warning\nrestart_after_crash = on");

# 2,000 rows in each of some milliseconds, few in others; the batches are slowed down.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE photos (n integer PRIMARY KEY, created_at timestamptz, id bigint UNIQUE, at_once bigint);
INSERT INTO photos SELECT g, timestamptz '2020-01-01+00' + (g / 2000 * 5 + CASE g / 2000 % 2 WHEN 0 THEN g % 5 ELSE 0 END) * interval '1 ms'
  FROM generate_series(0, 39999) AS g;
CREATE INDEX photos_todo ON photos (created_at) WHERE id IS NULL;
CALL snowid.backfill('photos', 'at_once', 'created_at', 7);
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.05); RETURN NULL; END';
CREATE TRIGGER slow AFTER UPDATE ON photos FOR EACH STATEMENT EXECUTE FUNCTION slow();
SQL
my $call = "CALL snowid.backfill('photos', 'id', 'created_at', 7, batch_size => 500)";

sub filled { return $node->safe_psql('postgres', 'SELECT count(id) FROM photos') }

# Starts a run, and hands over when it has filled some rows.
sub stopped_by
{
	my ($name, $stop) = @_;
	my $before = filled();
	my $session = background($node, 'postgres');
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	# Without waiting for its end.
	$session->{stdin} .= "$call;\n";
	$session->{run}->pump_nb;
	$node->poll_query_until('postgres', "SELECT count(id) > $before + 1000 FROM photos") or die 'nothing is filled';
	$stop->($pid);
	eval { $session->quit };
	my $filled = filled();
	cmp_ok($filled, '>', $before, "$name: some rows are filled: $filled");
	cmp_ok($filled, '<', 40_000, "$name: and not all");
	is( $node->safe_psql('postgres', q(
			SELECT count(*) FROM photos WHERE id IS NULL AND (created_at, n) <
			       (SELECT p.created_at, p.n FROM photos p WHERE p.id IS NOT NULL ORDER BY p.created_at DESC, p.n DESC LIMIT 1))),
		'0', "$name: these are the oldest rows");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM photos WHERE id <> at_once'), '0', "$name: with their ids");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'userlock'"),
		'0', "$name: no lock is left");
	return;
}

stopped_by('terminated', sub { $node->safe_psql('postgres', "SELECT pg_terminate_backend($_[0], 10000)") });
stopped_by('crash', sub { $node->stop('immediate'); $node->start });

my ($status, $out, $notices) = $node->psql('postgres', $call);
is($status, 0, 'the last run succeeds');
like($notices, qr/^psql.*NOTICE:  public\.photos: \d+ of \d+ rows filled, \d+ a second$/m, 'it tells how far it is');
my ($rows) = $notices =~ /NOTICE:  public\.photos: (\d+) rows filled$/m;
cmp_ok($rows, '<', 38_000, "and what it has done: $rows rows");
unlike($notices, qr/WARNING/, 'none is left');
is( $node->safe_psql('postgres', q(
		SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id = at_once), bool_and(id_timestamp(id) >= created_at)
		  FROM photos)),
	'40000|40000|40000|t', 'each row has the id that a run without a break gives');
is( $node->safe_psql('postgres', q(
		SELECT count(*) FILTER (WHERE id_timestamp(id) = created_at) > 30000, max(id_timestamp(id) - created_at) FROM photos)),
	't|00:00:00.001', 'with its time, or the next millisecond where that is full');

done_testing();
