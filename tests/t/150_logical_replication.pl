# Proves that a logical subscriber keeps the ids that it is sent, its own DEFAULT next_id() unused, and that
# after a switchover one statement makes its own ids safe for all shards of a table:
#     SELECT snowid.advance(max(id)) FROM t GROUP BY id_shard(id)
# The subscriber's clock is 10 s behind; without the statement its ids would fall among those it was sent.
#
# It would fail if a default fired for replicated rows, if replicating moved the generators (it doesn't:
# that is why the statement is needed), or if snowid.advance() were forgotten in a crash.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $behind = Snowid::Clock->new;
$behind->runs(-10_000);
my $publisher = server('publisher', init => [ allows_streaming => 'logical' ]);
my $subscriber = server('subscriber', clock => $behind);
$_->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY DEFAULT next_id(0), n integer)') for $publisher, $subscriber;
$publisher->safe_psql('postgres', 'CREATE PUBLICATION p FOR TABLE t');
$publisher->safe_psql('postgres', 'INSERT INTO t SELECT next_id(g % 5), g FROM generate_series(1, 1000) AS g');
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION p");
$subscriber->wait_for_subscription_sync($publisher, 's');
$publisher->safe_psql('postgres', 'INSERT INTO t SELECT next_id(g % 5), g FROM generate_series(1001, 2000) AS g');
$publisher->safe_psql('postgres', 'INSERT INTO t (n) SELECT g FROM generate_series(2001, 3000) AS g');
$publisher->wait_for_catchup('s');

my $rows = 'SELECT * FROM t ORDER BY id';
my $sent = $publisher->safe_psql('postgres', $rows);
is($subscriber->safe_psql('postgres', $rows), $sent, 'the subscriber holds the very ids that it was sent');
is($subscriber->safe_psql('postgres', 'SELECT count(*) FROM snowid.generators'), '0', 'it has generated none');
is(status($subscriber, 'high_water_raises'), 1, 'nor raised its mark, but for CREATE EXTENSION');

# Without the statement.
my ($lowest, $greatest) = split /\|/, $subscriber->safe_psql('postgres', 'SELECT min(id), max(id) FROM t WHERE id_shard(id) = 4');
cmp_ok(one_id($subscriber, 4), '<', $greatest, 'without the statement an id lies below those it was sent, its clock being behind');

# The switchover.
$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION s');
my $ledger = SnowidCrash::Ledger->new->stored(map { (split /\|/)[0] } split /\n/, $sent)->new_round;
my @floors = split /\n/, $subscriber->safe_psql('postgres', 'SELECT snowid.advance(max(id)) FROM t GROUP BY id_shard(id)');
is(scalar @floors, 5, 'one statement advances all five shards');
$ledger->note(split /\n/, $subscriber->safe_psql('postgres', 'INSERT INTO t SELECT next_id(s), 0 FROM generate_series(0, 4) AS s, generate_series(1, 1000) RETURNING id'));
$ledger->is_sound('then all ids are above those it was sent');

# It holds after a crash.
$subscriber->stop('immediate');
start_again($subscriber, $behind);
$ledger->new_round->note(split /\n/, $subscriber->safe_psql('postgres', 'INSERT INTO t SELECT next_id(s), 0 FROM generate_series(0, 4) AS s, generate_series(1, 1000) RETURNING id'));
$ledger->is_sound('after a crash too');

$_->stop for $subscriber, $publisher;
done_testing();
