# Proves that no ticket that a client was given, committed or not, comes again after a crash, where values
# of nextval do. First a session draws in an open transaction and the server dies: what it was given by
# nextval comes again, what it was given by next_ticket() and next_tickets() doesn't. Then six sessions draw
# in all ways while their server dies, by an immediate stop, a killed backend, a killed postmaster; each
# time later tickets are greater than all given before. It comes back with its clock an hour behind, which
# is nothing to tickets.
#
# It would fail if a ticket were returned before the WAL that covers it was on disk, if a block left nextval
# a stretch of values without WAL, or if synchronous_commit = off were a way round.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;
use SnowidTickets;
use Time::HiRes qw(sleep);

my $SESSIONS = 6;
my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock, conf => "restart_after_crash = on\nwal_writer_delay = '10s'");

# --- nextval repeats, tickets don't ---

my %draw = (
	'nextval' => 'nextval(\'%s\') FROM generate_series(1, 100)',
	'next_ticket' => 'next_ticket(\'%s\') FROM generate_series(1, 100)',
	'next_tickets' => 'next_tickets(\'%s\', 100)',
	'both in turn' => 'unnest(ARRAY[next_ticket(\'%s\'), (SELECT max(t) FROM next_tickets(\'%1$s\', 1 + n %% 40) AS t)]) FROM generate_series(1, 50) AS n');
for my $how (sort keys %draw)
{
	(my $sequence = "after_$how") =~ s/ /_/g;
	my $sql = 'SELECT ' . sprintf $draw{$how}, $sequence;
	for my $commit ('on', 'off')
	{
		$node->safe_psql('postgres', "CREATE SEQUENCE IF NOT EXISTS $sequence; SELECT nextval('$sequence'); CHECKPOINT");
		my $session = background($node, 'postgres');
		my @given = split /\n/, $session->query_safe("SET synchronous_commit = $commit; BEGIN; $sql");
		is(scalar @given, 100, "$how, synchronous_commit = $commit: a hundred given in an open transaction");
		$node->kill9;
		eval { $session->quit };
		start_again($node, $clock);
		my %given = map { $_ => 1 } @given;
		my $again = grep { $given{$_} } split /\n/, $node->safe_psql('postgres', $sql);
		if ($how eq 'nextval') { cmp_ok($again, '>', 0, "$how: $again of them come again after a crash") }
		else { is($again, 0, "$how, synchronous_commit = $commit: none comes again after a crash") }
	}
}

# --- Under load ---

# One with values cached by sessions, and one of a server of three.
$node->safe_psql('postgres', <<'SQL');
SELECT snowid.create_ticket_sequence('a', 3, 2);
SELECT snowid.create_ticket_sequence('b', 1, 1);
ALTER SEQUENCE b CACHE 7;
CREATE TABLE t (id bigint PRIMARY KEY DEFAULT next_ticket('a'));
SQL

sub script_of
{
	my ($n) = @_;
	my $sql = $n % 2 ? "SET synchronous_commit = off;\n" : '';
	for my $i (1 .. 5000)
	{
		my $count = 1 + $i * $n % 50;
		$sql .= "BEGIN;\n" . "SELECT 'a:' || next_ticket('a');\nSELECT 'b:' || next_ticket('b');\n" x 3 . ($i % 2 ? "ROLLBACK;\n" : "COMMIT;\n")
		  . "SELECT 'a:' || next_tickets('a', $count);\nSELECT 'b:' || next_tickets('b', $count);\n"
		  . "INSERT INTO t DEFAULT VALUES RETURNING 'a:' || id;\n";
	}
	return script($sql);
}
my @scripts = map { script_of($_) } 1 .. $SESSIONS;

my %crash = (
	'immediate stop' => sub { $node->stop('immediate') },
	'killed backend' => sub {
		my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE application_name = 'load' ORDER BY random() LIMIT 1");
		kill 'KILL', $pid;
	},
	'killed postmaster' => sub { $node->kill9 });

my $ledger = SnowidTickets::Ledger->new;
my %greatest = (a => 0, b => 0);
for my $how ((sort keys %crash) x 3)
{
	my @load = start_load($node, @scripts);
	$node->poll_query_until('postgres', "SELECT count(*) = $SESSIONS FROM pg_stat_activity WHERE application_name = 'load'")
	  or die 'the sessions do not start';
	sleep 0.3 + rand 0.4;
	$crash{$how}->();
	$clock->runs(-3_600_000);
	end_load(@load);
	my @files = map { $_->{out} } @load;
	is(scalar(grep { -s } @files), $SESSIONS, "$how: all sessions had drawn");
	$how eq 'killed backend' ? $node->poll_query_until('postgres', 'SELECT true') : start_again($node, $clock);

	my ($not_greater, %next) = (0, %greatest);
	for my $file (@files)
	{
		for (split /\n/, slurp_file($file))
		{
			my ($name, $ticket) = /^(\w):([0-9]+)$/ or die "'$_' is no ticket";
			$not_greater++ if $ticket <= $greatest{$name};
			$next{$name} = $ticket if $ticket > $next{$name};
		}
	}
	%greatest = %next;
	is($not_greater, 0, "$how: all were greater than those of before the crash before");
	$ledger->note_files(@files);
}
$ledger->is_sound('under load');
my $stored = $node->safe_psql('postgres', 'SELECT max(id) FROM t');
cmp_ok($node->safe_psql('postgres', "SELECT next_ticket('a')"), '>', $stored > $greatest{a} ? $stored : $greatest{a}, 'and so is the next one');
is($node->safe_psql('postgres', "SELECT next_ticket('a') % 3"), '2', 'of its server still');

$node->stop('immediate');
done_testing();
