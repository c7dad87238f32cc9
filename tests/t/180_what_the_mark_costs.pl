# Proves what the mark costs: while ids are drawn steadily, about one WAL record of some 60 bytes a second
# and no caller that waits for a disk; while none are drawn, nothing; after an idle time one wait. Counted,
# not timed.
#
# It would fail if each id, or each session or shard, raised the mark; if steady callers waited; if an idle
# server wrote.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;
use Time::HiRes qw(sleep);

my $node = server('main', init => [ allows_streaming => 1 ], conf => <<'CONF');
checkpoint_timeout = 1h
wal_compression = off
CONF
needs($node, 'pg_walinspect');
$node->safe_psql('postgres', 'CREATE EXTENSION pg_walinspect');
sub counts { return split /\|/, $node->safe_psql('postgres', 'SELECT high_water_raises, high_water_flush_waits, pg_current_wal_insert_lsn() FROM snowid.status') }

# Records on the mark's page from one position to another: [total length, length of full-page images].
sub records
{
	my ($from, $to) = @_;
	return if $from eq $to;
	my $file = $node->safe_psql('postgres', "SELECT pg_relation_filenode('snowid.high_water')");
	my $rows = $node->safe_psql('postgres', "SELECT record_length, fpi_length FROM pg_get_wal_records_info('$from', '$to') WHERE resource_manager = 'Generic' AND block_ref LIKE '%/$file %'");
	return map { [ split /\|/ ] } split /\n/, $rows;
}

$node->safe_psql('postgres', 'CHECKPOINT');
one_id($node, 1);
my ($raises, $waits, $from) = counts();

# --- Ten seconds of steady generating: six sessions, seven shards, single ids and blocks ---

my $end = $node->safe_psql('postgres', "SELECT clock_timestamp() + interval '11 seconds'");
my @jobs = map { my $n = $_; <<SQL } 1 .. 6;
DO \$\$ BEGIN
  FOR i IN 1 .. 1000000 LOOP
    PERFORM next_id(7), next_id($n), count(*) FROM next_ids($n, 10);
    IF i % 10 = 0 THEN PERFORM pg_sleep(0.001); END IF;
    EXIT WHEN clock_timestamp() > '$end';
  END LOOP;
END \$\$
SQL
finish_all(start_together($node, map { [ 'postgres', $_ ] } @jobs));
# A commit, which flushes the last raise: only what is flushed can be read.
$node->safe_psql('postgres', "SELECT pg_logical_emit_message(true, 'test', '')");
my ($raises_then, $waits_then, $to) = counts();
my $seconds = $node->safe_psql('postgres', "SELECT extract(epoch FROM clock_timestamp() - '$end' + interval '11 seconds')");
my @written = records($from, $to);
note(sprintf '%.1f s: %d raises, %d waits for a flush, records of %s bytes', $seconds, $raises_then - $raises, $waits_then - $waits,
	join ', ', map { $_->[1] ? "$_->[0] ($_->[1] of them a full page)" : $_->[0] } @written);
at_most($raises_then - $raises, $seconds + 1, 'raises of the mark');
cmp_ok($raises_then - $raises, '>=', 5, 'there were some');
is(scalar @written, $raises_then - $raises, 'each is one WAL record');
at_most(scalar(grep { $_->[1] } @written), 1, 'records with a full page');
at_most((sort { $b <=> $a } map { $_->[0] - $_->[1] } @written)[0], 64, 'bytes of the longest record, less its full page');
# Where the machine is too busy to flush a raise within the second that it is ahead, a call waits for that one.
at_most($waits_then - $waits, @written / 2, 'calls that waited for a flush, at most for every other raise');

# --- Idle ---

($raises, $waits, $from) = counts();
sleep 5;
($raises_then, $waits_then, $to) = counts();
is($raises_then - $raises . ' ' . scalar(@{ [ records($from, $to) ] }), '0 0', 'five seconds idle: no record');
$node->safe_psql('postgres', 'SELECT next_id(s) FROM generate_series(1, 7) AS s');
($raises_then, $waits_then) = counts();
is(($raises_then - $raises) . ' ' . ($waits_then - $waits), '1 1', 'seven draws of seven shards after it: one raise, one wait');

$node->stop;
done_testing();
