# Proves the procedure of docs/tickets_and_ranges.md: two servers become three while clients draw. All are
# capped below a start; then, in any order, each goes on as one of three. In between one server is killed
# and comes back, still one of two and capped, and gives tickets beside one that is already one of three.
# No ticket is given twice, and there is no moment without service.
#
# It would fail if a cap were lost in the crash, if a server could be resized without one, if it went on
# below the start, or if two who cap at once could raise a cap.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidCrash;
use SnowidTickets;

my ($one, $two, $three) = map { server($_) } qw(one two three);
$one->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 2, 1)");
$two->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 2, 2)");

sub some_more
{
	my ($node) = @_;
	my $goal = last_ticket($node) + 150;
	return wait_until('tickets of ' . $node->name, sub { last_ticket($node) >= $goal });
}

my @clients = start_clients(3, $one, $two);
ok(some_more($_), $_->name . ' gives tickets, as one of two') for $one, $two;

# A start above all that they give until both are capped, and for as long as the procedure takes.
my ($start) = sort { $b <=> $a } map { last_ticket($_) } $one, $two;
$start += 100_000;
my $resize = sub { my ($n) = @_; return "SELECT snowid.resize_ticket_sequence('orders', 3, $n, $start)" };
like(error_of($one, 'postgres', $resize->(1)), qr/ERROR: +55000: ticket sequence public\.orders is not capped below $start\n/, 'no server is resized before it is capped');
# That of two is lost unless its commit is on disk.
$one->safe_psql('postgres', "SELECT snowid.cap_ticket_sequence('orders', $start)");
$two->safe_psql('postgres', "SET synchronous_commit = off; SELECT snowid.cap_ticket_sequence('orders', $start)");
$two->kill9;

is($one->safe_psql('postgres', $resize->(1)), $start + (1 - $start) % 3, 'one goes on at the start, as one of three');
ok(some_more($one), 'two is down: one gives tickets');
start_again($two);
is($two->safe_psql('postgres', "SELECT last FROM snowid.sequences"), $start - 1, 'two is back, and capped');
ok(some_more($_), $_->name . ' gives tickets beside the other') for $two, $one;
cmp_ok(last_ticket($two), '<', $start, 'two gives them below the start still');
cmp_ok(last_ticket($one), '>=', $start, 'one above it');

$three->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders', 3, 3, $start)");
push @clients, start_clients(3, $three, $one, $two);
ok(some_more($three), 'three gives tickets');
is($two->safe_psql('postgres', $resize->(2)), $start + (2 - $start) % 3, 'two goes on at the start');
ok(some_more($_), $_->name . ' gives tickets, as one of three') for $one, $two, $three;
my $ledger = SnowidTickets::Ledger->new->note_files(stop_clients(@clients));

$ledger->is_sound('two servers, and three');
my %of = (map { $_ => 0 } 0 .. 2);
$of{ $_ % 3 }++ for grep { $_ >= $start } keys %{ $ledger->{given} };
cmp_ok($of{$_}, '>', 0, "$of{$_} above the start leave $_ divided by 3") for 0 .. 2;
my @behind = grep { $_ >= $start } map { split /\n/ } $two->safe_psql('postgres', "SELECT next_ticket('orders') FROM generate_series(1, 10)");
is(scalar(grep { $_ % 3 == 2 } @behind), 10, 'two gives every third');

# --- Two cap at once, with different starts ---

$three->safe_psql('postgres', "SELECT snowid.create_ticket_sequence('orders_too', 2, 1)");
my $first = background($three, 'postgres');
$first->query_safe("BEGIN; SELECT snowid.cap_ticket_sequence('orders_too', 1001)");
my ($second) = start_together($three, ['postgres', "SELECT snowid.cap_ticket_sequence('orders_too', 2001)"]);
ok( $three->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%2001%'"),
	'the second waits for the first');
$first->query_safe('COMMIT');
$first->quit;
$second->{run}->finish;
like(slurp_file($second->{err}), qr/ERROR: +55000: ticket sequence public\.orders_too is capped below 1001\n/, 'and does not raise its cap');
is($three->safe_psql('postgres', "SELECT last FROM snowid.sequences WHERE relation = 'orders_too'::regclass"), 1000, 'which is still there');

$_->stop('immediate') for $one, $two, $three;
done_testing();
