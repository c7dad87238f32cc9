# Proves that with a synchronous standby a failover repeats no ticket that any client was given, committed
# or not, whatever the sessions' synchronous_commit: a ticket whose WAL the standby hasn't confirmed waits
# for it, can be cancelled, and is not given. On the standby tickets are refused.
#
# It would fail if a ticket counted once it was flushed on the primary alone.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;
use SnowidTickets;

my $primary = server('primary', init => [ allows_streaming => 1 ]);
$primary->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 2, 2)");
$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->append_conf('postgresql.conf', "wal_retrieve_retry_interval = '100ms'");
$standby->start;
$primary->append_conf('postgresql.conf', "synchronous_standby_names = 'standby'");
$primary->reload;
sub synchronous
{
	$primary->poll_query_until('postgres', "SELECT sync_state = 'sync' FROM pg_stat_replication") or die 'the standby is not synchronous';
	return;
}
synchronous();
my $ledger = SnowidTickets::Ledger->new;

like(error_of($standby, 'postgres', "SELECT next_ticket('orders')"), qr/ERROR: +25006: cannot execute next_ticket\(\) in a read-only transaction/, 'refused on a standby');
like(error_of($standby, 'postgres', "SELECT next_tickets('orders', 2)"), qr/ERROR: +25006: cannot execute next_tickets\(\) in a read-only transaction/, 'so are blocks');
is($standby->safe_psql('postgres', 'SELECT kind, part, parts FROM snowid.sequences'), 'tickets|2|2', 'the view works there');

# While the standby is away no ticket is given that it doesn't know of.
my $session = background($primary, 'postgres');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
$session->query_safe('SET synchronous_commit = off; BEGIN');
$ledger->note($session->query_safe("SELECT next_ticket('orders')"));
$standby->stop;
for my $draw ("next_ticket('orders') FROM generate_series(1, 100)", "next_tickets('orders', 100)")
{
	$session->{stdin} .= "SELECT $draw;\n\\echo done\n\\warn done\n";
	$session->{run}->pump_nb;
	wait_until('a draw that waits', sub { $primary->safe_psql('postgres',
			"SELECT wait_event = '@{[ wait_event($primary, 'SnowidSyncStandby') ]}' FROM pg_stat_activity WHERE pid = $pid AND state = 'active'") eq 't' });
	$primary->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->{run}->pump until $session->{stdout} =~ /done\n/ && $session->{stderr} =~ /done\n/;
	like($session->{stderr}, qr/57014: canceling statement due to user request/, "$draw: it waits, and can be cancelled");
	is($session->{stdout}, "done\n", "$draw: and gives none");
	@$session{qw(stdout stderr)} = ('', '');
	$session->query_safe('ROLLBACK; BEGIN');
}
$standby->start;
synchronous();

# The failover
$ledger->note(split /\n/, $session->query_safe("SELECT next_ticket('orders') FROM generate_series(1, 1000)"));
$ledger->note(split /\n/, $session->query_safe("SELECT next_tickets('orders', 1000)"));
$ledger->note(split /\n/, $session->query_safe("SELECT next_ticket('orders')"));
$primary->kill9;
eval { $session->quit };
$standby->promote;
$standby->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$standby->reload;
$standby->poll_query_until('postgres', "SELECT current_setting('synchronous_standby_names') = ''");
$ledger->note(split /\n/, $standby->safe_psql('postgres', "SELECT next_ticket('orders') FROM generate_series(1, 3000)"));
$ledger->is_sound('before and after the failover');
is($standby->safe_psql('postgres', "SELECT next_ticket('orders') % 2"), '0', 'even ones still');

$standby->stop('immediate');
done_testing();
