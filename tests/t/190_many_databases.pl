# Proves that the databases of a server have a mark each: where ids are drawn in several at once, one
# database's mark covers its own ids, whatever the others do, and after a crash with the clock behind each
# goes on above its own. While the server runs no id repeats across them.
#
# It would fail if databases shared what the server knows of a mark, or if an id drawn in one were covered
# by the mark of another.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock);
my @databases = map { "d$_" } 1 .. 12;
$node->safe_psql('postgres', "CREATE DATABASE $_ STRATEGY file_copy") for @databases;
$node->safe_psql($_, 'CREATE EXTENSION pg_snowid') for @databases;
my $now = unix_ms() + 10_000;
my %ledgers = map { $_ => SnowidCrash::Ledger->new } @databases;
my $all = SnowidCrash::Ledger->new;
sub mark { return $node->safe_psql($_[0], 'SELECT last_value FROM snowid.high_water') }
sub draw { my ($database, $count) = @_; return split /\n/, $node->safe_psql($database, "SELECT next_id(5) FROM generate_series(1, $count)") }

# Each database last makes ids 5 s after the one before.
for my $database (@databases)
{
	$clock->stands($now += 5000);
	my @ids = draw($database, 3000);
	$all->note(@ids);
	$ledgers{$database}->note(@ids)->new_round;
	$all->new_round;
}
$all->is_sound('while the server runs all are distinct and in order, across ' . @databases . ' databases');
is(join(' ', map { status($node, 'high_water_raises', $_) } @databases), join(' ', (2) x @databases), 'each mark was raised by its own database');
my %marks = map { $_ => mark($_) } @databases;
is(scalar(grep { $marks{ $databases[$_] } - $marks{ $databases[ $_ - 1 ] } < 4900 } 1 .. $#databases), 0, 'and stands where that has drawn');
for my $database (@databases)
{
	cmp_ok($marks{$database}, '>', $ledgers{$database}->last_ms, "$database: its mark is above its ids");
}

# After a crash each starts at its own, in the opposite order.
$node->stop('immediate');
$clock->stands($now - 30_000);
start_again($node, $clock);
for my $database (reverse @databases)
{
	$ledgers{$database}->note(draw($database, 3000));
	$ledgers{$database}->is_sound("$database: after a crash, the clock 30 s behind, ids go on above its own");
}

# A database is dropped, another is made: it has nothing of the first.
$node->safe_psql('postgres', 'DROP DATABASE d1');
my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = 'd2'");
$node->safe_psql('postgres', 'CREATE DATABASE d1');
like(error_of($node, 'd1', 'SELECT next_id(5)'), qr/ERROR: +42883: /, 'a database that was dropped and made again has no extension');
$node->safe_psql('d1', 'CREATE EXTENSION pg_snowid');
like(one_id($node, 5, 'd1'), qr/^\d+$/, 'with it, it draws');
cmp_ok(mark('d1'), '>', (fields(one_id($node, 5, 'd1')))[0], 'below a mark of its own');

# The same one by its oid, as pg_upgrade would make it, from a template whose mark is old.
$node->safe_psql('postgres', 'DROP DATABASE d2');
$node->safe_psql('postgres', "CREATE DATABASE d2 OID $oid TEMPLATE d3");
$clock->stands($now - 20_000);
like(one_id($node, 5, 'd2'), qr/^\d+$/, 'a database under the oid of one that was dropped draws');
cmp_ok(mark('d2'), '>', (fields(one_id($node, 5, 'd2')))[0], 'below its own mark');

$node->stop;
done_testing();
