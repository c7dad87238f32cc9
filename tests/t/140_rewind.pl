# Proves promise 1 for a cluster that fails over twice: the standby is promoted while its old primary still
# makes ids that nobody will keep, the old primary is rewound and follows, and is promoted in its turn, each
# with its clock 10 s behind the one before. Every id of a new primary is greater than all that its tables
# hold, and the rewound server has the mark of the server it follows.
#
# It would fail if pg_rewind left the old primary's mark, or a part of it, in place.

use strict;
use warnings;

use File::Copy;
use Test::More;
use Snowid;
use SnowidCrash;

my %clocks = map { $_ => Snowid::Clock->new } 'first', 'second';
$clocks{second}->runs(-10_000);
my $first = server('first', clock => $clocks{first}, init => [ allows_streaming => 1 ], conf => "wal_log_hints = on\nwal_keep_size = 512MB");
$first->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY, who text)');
$first->backup('backup');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($first, 'backup', has_streaming => 1);
start_again($second, $clocks{second});

sub insert
{
	my ($node, $count) = @_;
	my $who = $node->name;
	return split /\n/, $node->safe_psql('postgres',
		"INSERT INTO t SELECT next_id(s), '$who' FROM generate_series(0, 9) AS s, generate_series(1, $count) RETURNING id");
}
sub mark { return $_[0]->safe_psql('postgres', 'SELECT last_value FROM snowid.high_water') }
sub ledger_of { return SnowidCrash::Ledger->new->stored(split /\n/, $_[0]->safe_psql('postgres', 'SELECT id FROM t'))->new_round }

insert($first, 300);
$first->wait_for_catchup($second, 'replay', $first->lsn('insert'));

# The connection breaks and the standby is promoted; the first one goes on for a while.
$second->promote;
my @lost = insert($first, 300);
$clocks{first}->runs(20_000);
push @lost, insert($first, 300);
my $lost_mark = mark($first);
my $ledger = ledger_of($second);
$ledger->note(insert($second, 500));
$ledger->is_sound('the second one, promoted 10 s behind: all are above what its tables hold');

# The first one comes back as a standby of the second.
$first->stop;
my $data = $first->data_dir;
copy("$data/postgresql.conf", "$data/../kept.conf") or die "copy: $!";
$second->safe_psql('postgres', 'CHECKPOINT');
$first->command_ok([ 'pg_rewind', '-D', $data, '--source-server', $second->connstr('postgres'), '--no-sync' ], 'pg_rewind');
copy("$data/../kept.conf", "$data/postgresql.conf") or die "copy: $!";
$first->enable_streaming($second);
$clocks{first}->runs(-20_000);
start_again($first, $clocks{first});
insert($second, 100);
$second->wait_for_catchup($first, 'replay', $second->lsn('insert'));
is($first->safe_psql('postgres', 'SELECT count(*) FROM t WHERE id IN (' . join(', ', @lost) . ')'), '0', 'what it made meanwhile is gone');
is(mark($first), mark($second), 'its mark is that of the second one');
cmp_ok(mark($first), '<', $lost_mark, 'not the higher one that it had raised meanwhile');

# And back: the second one dies, the first is promoted, 10 s further behind.
insert($second, 100);
$second->wait_for_catchup($first, 'replay', $second->lsn('insert'));
$second->kill9;
$first->promote;
$ledger = ledger_of($first);
$ledger->note(insert($first, 500));
$ledger->is_sound('the first one again, 10 s further behind: all are above what its tables hold');
is($first->safe_psql('postgres', 'SELECT count(*) || \' \' || count(DISTINCT id) FROM t'), '15000 15000', 'rows of all times are there, each with its own id');
$first->stop('immediate');
done_testing();
