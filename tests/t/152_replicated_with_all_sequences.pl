# Proves what a publication FOR ALL SEQUENCES (PostgreSQL 19) does to a subscriber that has the extension too:
# the publisher's high-water mark comes in the place of its own, as by setval. Where that is lower the next draw
# notices and raises it again, and no id repeats, through a crash with the clock set back after it. Where it is far
# ahead of the clock nothing is drawn until a superuser accepts it, and ids then start at it.
#
# It would fail if a mark that was set back were taken for one of the server's own, if one far ahead were, or if
# a subscription ended by an error.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash qw(start_again wait_until one_id the_mark $SET_AHEAD);

my $clock = Snowid::Clock->new;
my $publisher_clock = Snowid::Clock->new;
my $publisher = server('publisher', init => [ allows_streaming => 'logical' ], clock => $publisher_clock);
if (major($publisher) < 19)
{
  SKIP: { skip 'no publication has sequences before PostgreSQL 19', 1 }
	done_testing();
	exit;
}
my $subscriber = server('subscriber', clock => $clock);
$_->safe_psql('postgres', 'CREATE SEQUENCE theirs') for $publisher, $subscriber;
one_id($publisher, 5);
$publisher->safe_psql('postgres', "SELECT setval('theirs', 1000); CREATE PUBLICATION p FOR ALL SEQUENCES");

# --- Lower ---

$clock->runs(20_000);
my $last = one_id($subscriber, 5);
my $own = the_mark($subscriber);
sub copied
{
	my ($sequence) = @_;
	return $subscriber->poll_query_until('postgres', "SELECT srsubstate = 'r' FROM pg_subscription_rel WHERE srrelid = '$sequence'::regclass");
}
$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION s CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION p");
ok(copied($_), "$_ is copied") for 'theirs', 'snowid.high_water';
is($subscriber->safe_psql('postgres', 'SELECT last_value FROM theirs'), 1000, 'a sequence of the user has their value');
cmp_ok(the_mark($subscriber), '<', $own, "the publisher's mark is in the place of the subscriber's, 20 s lower");

my $next = one_id($subscriber, 5);
cmp_ok($next, '>', $last, 'ids go on');
$clock->runs(23_000);
$next = one_id($subscriber, 5);
cmp_ok(the_mark($subscriber), '>', $own, 'the next raise is of the own mark');
is(log_count($subscriber, qr/LOG: +the high-water mark of this database was set back/), 1, 'and logged');

$subscriber->stop('immediate');
$clock->runs(0);
start_again($subscriber, $clock);
cmp_ok(one_id($subscriber, 5), '>', $next, 'a crash, and the clock set back: ids go on above those of before');

# --- Far ahead ---

$publisher_clock->runs(55_000);
one_id($publisher, 5);
$subscriber->safe_psql('postgres', 'ALTER SUBSCRIPTION s REFRESH SEQUENCES');
ok(copied('snowid.high_water'), 'the mark is copied again');
wait_until('it is their mark', sub { the_mark($subscriber) == the_mark($publisher) });
$subscriber->stop;
start_again($subscriber, $clock);
like(error_of($subscriber, 'postgres', 'SELECT next_id(5)'), $SET_AHEAD, 'a mark far ahead of the clock: nothing is drawn');
is($subscriber->safe_psql('postgres', 'SELECT snowid.accept_high_water()'), 't', 'it is accepted');
cmp_ok((fields(one_id($subscriber, 5)))[0], '>=', the_mark($publisher) - 1000, 'ids start at it');
is(log_count($subscriber, qr/ERROR: ++(?!the high-water mark of this database was set far ahead)/), 0, 'the subscription had no error');
$_->stop for $subscriber, $publisher;
done_testing();
