# Proves that a session in a long statement, which has not read its configuration again, is no way round
# a synchronous standby: once synchronous_standby_names is set, no session is given an id past what was
# durable before, while that statement goes on drawing and raising the mark.
#
# It would fail if each session decided by its own copy of the setting whether a raise is confirmed.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $node = server('primary', init => [ allows_streaming => 1 ]);
my $long = background($node, 'postgres');
my $pid = $long->query_safe('SELECT pg_backend_pid()');
$long->{stdin} .= "DO 'BEGIN LOOP PERFORM next_id(1), pg_sleep(0.002); END LOOP; END';\n\\warn done\n";
$long->{run}->pump_nb;
wait_until('ids of the long statement', sub { $node->safe_psql('postgres', 'SELECT count(*) FROM snowid.generators') eq '1' });

$node->append_conf('postgresql.conf', "synchronous_standby_names = 'nobody'");
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('synchronous_standby_names') = 'nobody'");
past_mark($node);    # past what was durable by then
is($node->safe_psql('postgres', "SELECT state FROM pg_stat_activity WHERE pid = $pid"), 'active', 'the statement is still at it');
like(error_of($node, 'postgres', "SET statement_timeout = '2s'; SELECT next_id(2)"),
	qr/57014: canceling statement due to statement timeout/, 'another session waits for a standby');

$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
wait_until('the end of the statement', sub { $long->{run}->pump_nb; return $long->{stderr} =~ /done\n/ });
$long->quit;
$node->append_conf('postgresql.conf', "synchronous_standby_names = ''");
$node->reload;
$node->poll_query_until('postgres', "SELECT current_setting('synchronous_standby_names') = ''");
cmp_ok($node->safe_psql('postgres', 'SELECT next_id(2)'), '>', 0, 'no standby wanted any more: ids go on');
$node->stop;
done_testing();
