# Proves that with a synchronous standby a failover repeats no id that any client was ever given,
# committed or not, whatever the sessions' synchronous_commit: a raise of the mark waits for the standby as
# a commit does. While the standby is away a draw that needs a raise waits, can be cancelled or time out,
# and gives no id; it goes on when the standby comes back, or when it is no longer asked for.
#
# It would fail if a raise counted once it was flushed on the primary alone, if synchronous_commit = off
# were a way round, or if a wait could not be ended.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
my $behind = Snowid::Clock->new;
$behind->runs(-10_000);
my $primary = server('primary', clock => $clock, init => [ allows_streaming => 1 ]);
$primary->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY)');
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'");
start_again($standby, $behind);
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
$primary->poll_query_until('postgres', "SELECT sync_state = 'sync' FROM pg_stat_replication") or die 'the standby is not synchronous';
my $ledger = SnowidCrash::Ledger->new;
my $ahead = 0;

# --- The standby is away ---

my $session = background($primary, 'postgres');
$ledger->note($session->query_safe('SELECT next_id(1)'));
$standby->stop;
sub last_id { return $primary->safe_psql('postgres', 'SELECT last_id FROM snowid.generators WHERE shard_id = 1') }

# Runs SQL in the session, whose draw needs a raise, until it waits; then does something about it.
sub waits
{
	my ($name, $prelude, $meanwhile, $real) = @_;
	$session->query_safe($prelude);
	my $pid = $session->query_safe('SELECT pg_backend_pid()');
	my $last = last_id();
	# Past all that is on the standby.
	$real ? past_mark($primary) : $clock->runs($ahead += 10_000);
	$session->{stdin} .= "SELECT next_id(1);\n\\echo done\n\\warn done\n";
	$session->{run}->pump_nb;
	wait_until('a draw that waits', sub { $primary->safe_psql('postgres',
			"SELECT wait_event = '@{[ wait_event($primary, 'SnowidSyncStandby') ]}' FROM pg_stat_activity WHERE pid = $pid AND state = 'active'") eq 't' });
	is(last_id(), $last, "$name: the draw waits, and the shard has given nothing");
	$meanwhile->($pid);
	$session->{run}->pump until $session->{stdout} =~ /done\n/ && $session->{stderr} =~ /done\n/;
	my ($out, $err) = @$session{qw(stdout stderr)};
	@$session{qw(stdout stderr)} = ('', '');
	s/done\n// for $out, $err;
	return ($out, $err, $last);
}
sub cancel { my ($pid) = @_; $primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)"); return }

# The first one under a clock that wasn't moved: PostgreSQL's timeouts go by it.
for my $case ([ 'synchronous_commit = local, timed out', "SET synchronous_commit = local; SET statement_timeout = '2s'",
		sub { }, qr/57014: canceling statement due to statement timeout/, 1 ],
	[ 'cancelled', 'RESET synchronous_commit; RESET statement_timeout', \&cancel, qr/57014: canceling statement due to user request/ ],
	[ 'synchronous_commit = off, cancelled', 'SET synchronous_commit = off', \&cancel, qr/57014: canceling statement due to user request/ ])
{
	my ($name, $prelude, $meanwhile, $error, $real) = @$case;
	my ($out, $err, $last) = waits($name, $prelude, $meanwhile, $real);
	like($err, $error, "$name: it ends with that");
	is($out, '', "$name: and gives no id");
	is(last_id(), $last, "$name: nor is one used up");
}

my ($out, $err) = waits('names taken away', 'RESET synchronous_commit', sub {
	$primary->append_conf('postgresql.conf', "synchronous_standby_names = ''");
	$primary->reload;
});
is($err, '', 'names taken away: the draw goes on');
$ledger->note(split /\n/, $out);
wait_until('the setting', sub { $session->query_safe('SHOW synchronous_standby_names') eq '' });
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
wait_until('the setting', sub { $session->query_safe('SHOW synchronous_standby_names') eq 'standby' });

($out, $err) = waits('standby comes back', 'SET synchronous_commit = off', sub { start_again($standby, $behind) });
is($err, '', 'standby comes back: the draw goes on');
$ledger->note(split /\n/, $out);
$session->quit;

# --- The failover ---

$primary->poll_query_until('postgres', "SELECT sync_state = 'sync' FROM pg_stat_replication") or die 'the standby is not synchronous';
# Clients are given ids long before any commit, and most are never committed.
my $script = "BEGIN;\n" . "SELECT next_id(1);\nSELECT next_id(2);\nCOPY (SELECT next_ids(3, 50)) TO STDOUT;\n" x 3
  . "INSERT INTO t VALUES (next_id(4)) RETURNING id;\nROLLBACK;\n";
my $file = script($script x 3000);
my $off = script("SET synchronous_commit = off;\n" . ($script x 3000));
$clock->runs($ahead += 30_000);
my @load = start_load($primary, $file, $file, $off, $off);
my @files = map { $_->{out} } @load;
wait_until('ids for all four', sub { (grep { -s } @files) == 4 });
past_mark($primary);    # what they draw has needed raises under load
$primary->kill9;
end_load(@load);
is(scalar(grep { -s } @files), 4, 'four sessions were given ids when the primary was killed');
$ledger->note_files(@files)->new_round;

$standby->promote;
$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''\npg_snowid.max_clock_regression = '1h'");
$standby->reload;
$standby->poll_query_until('postgres', "SELECT current_setting('pg_snowid.max_clock_regression') = '1h'");
is($standby->safe_psql('postgres', 'SELECT count(*) FROM t'), '0', 'nothing of it was committed');
my $before = $ledger->last_ms;
$behind->runs($ahead - 10_000);
$ledger->note(split /\n/, $standby->safe_psql('postgres', 'SELECT next_id(s) FROM generate_series(1, 4) AS s, generate_series(1, 3000)'));
$ledger->is_sound('promoted 10 s behind: all ids are above all that anyone was given');
cmp_ok($ledger->last_ms, '>', $before, 'they carry later times');

$standby->stop('immediate');
done_testing();
