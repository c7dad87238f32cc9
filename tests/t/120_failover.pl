# Proves promise 1 across a failover to an asynchronous standby that is promoted with its clock 10 s or an
# hour behind, its primary killed under load: every new id is greater than every id that its tables hold,
# or an error says that the clock is behind. A standby that doesn't load the library replays the mark like
# any other page. What the standby hadn't received, ids included, is lost: that is what asynchronous means,
# and the test prints how much.
#
# It would fail if the mark weren't replicated, if a session of before the promotion kept what it knew, or
# if WAL of the library's own kept a standby from recovering.

use strict;
use warnings;

use Test::More;
use Snowid;
use SnowidCrash;

my $now = Snowid::Clock->new;
my $primary = server('primary', clock => $now, init => [ allows_streaming => 1 ]);
$primary->safe_psql('postgres', 'CREATE TABLE t (id bigint PRIMARY KEY, n integer)');
$primary->backup('backup');

my %ahead = (ten_seconds => -10_000, an_hour => -3_600_000, without_library => -10_000);
my (%standbys, %clocks, %sessions);
for my $name (sort keys %ahead)
{
	my $standby = $standbys{$name} = PostgreSQL::Test::Cluster->new($name);
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''") if $name eq 'without_library';
	$clocks{$name} = Snowid::Clock->new;
	$clocks{$name}->runs($ahead{$name});
	start_again($standby, $clocks{$name});
}

# What a session does before the promotion shall not matter to it after.
for my $name ('ten_seconds', 'an_hour')
{
	$sessions{$name} = background($standbys{$name}, 'postgres');
	$sessions{$name}->query('SELECT next_id(1)');
	like($sessions{$name}{stderr}, qr/ERROR: +25006: cannot execute next_id\(\) during recovery/, "$name: a standby refuses to generate");
	$sessions{$name}{stderr} = '';
}

my $script = script(join "\n", map { my $s = $_ % 5; "INSERT INTO t SELECT next_id($s), g FROM generate_series(1, 20) AS g RETURNING id;" } 1 .. 20_000);
my @load = start_load($primary, ($script) x 4);
wait_until('rows on the standbys', sub { $standbys{an_hour}->safe_psql('postgres', 'SELECT count(*) > 5000 FROM t') eq 't' });
my $early = the_mark($standbys{an_hour});
wait_until('a raise under load on a standby', sub { the_mark($standbys{an_hour}) > $early });
$primary->kill9;
end_load(@load);
my %given = map { $_ => 1 } map { split /\n/, PostgreSQL::Test::Utils::slurp_file($_->{out}) } @load;

# Promotes a standby and returns a ledger of what its tables hold.
sub promote
{
	my ($name) = @_;
	my $standby = $standbys{$name};
	$standby->promote;
	my @stored = split /\n/, $standby->safe_psql('postgres', 'SELECT id FROM t');
	my %stored = map { $_ => 1 } @stored;
	note(sprintf '%s: %d ids were given, %d are stored here, %d were lost with their primary',
		$name, scalar keys %given, scalar @stored, scalar grep { !$stored{$_} } keys %given);
	cmp_ok(scalar @stored, '>', 5000, "$name: the tables hold " . @stored . ' rows');
	return SnowidCrash::Ledger->new->stored(@stored)->new_round;
}
my $insert = 'INSERT INTO t SELECT next_id(s), 0 FROM generate_series(0, 4) AS s, generate_series(1, 1000) RETURNING id';

# --- Its clock is 10 s behind: within what is tolerated ---

my $ledger = promote('ten_seconds');
$ledger->note(split /\n/, $sessions{ten_seconds}->query_safe($insert));
$ledger->note_files(do { my @more = start_load($standbys{ten_seconds}, (script("$insert;\n" x 3)) x 2); end_load(@more); map { $_->{out} } @more });
$ledger->is_sound('promoted 10 s behind: all are above what the tables hold');
is($ledger->{ids}, 35_000, 'and none was refused');

# --- An hour behind ---

$ledger = promote('an_hour');
for my $shard (0 .. 4)
{
	like(refused($standbys{an_hour}, $shard), $BEHIND, "promoted an hour behind: shard $shard is refused");
}
$sessions{an_hour}->query($insert);
like($sessions{an_hour}{stderr}, $BEHIND, 'in the session of before as well');
$sessions{an_hour}{stderr} = '';
$clocks{an_hour}->runs(0);
$ledger->note(split /\n/, $sessions{an_hour}->query_safe($insert));
$ledger->is_sound('once the clock is right ids go on above what the tables hold');
is($ledger->{ids}, 5000, 'and none is refused');
$_->quit for values %sessions;

# --- Nothing preloaded ---

my $standby = $standbys{without_library};
my $mark = 'SELECT last_value FROM snowid.high_water';
my $marked = $standby->safe_psql('postgres', $mark);
cmp_ok($marked, '>=', (fields($standby->safe_psql('postgres', 'SELECT max(id) FROM t')))[0], 'without the library: the mark is replayed all the same');
$ledger = promote('without_library');
is($standby->safe_psql('postgres', $mark), $marked, 'without the library: and is there after promotion');
is($standby->safe_psql('postgres', 'SELECT (SELECT setting FROM pg_settings WHERE name = \'pg_snowid.worker_id\') IS NULL'), 't',
	'without the library: nothing has loaded it');
$standby->safe_psql('postgres', 'INSERT INTO t VALUES (1, 1)');
is($standby->safe_psql('postgres', 'SELECT id_shard(max(id)) BETWEEN 0 AND 4 FROM t'), 't', 'without the library: decoding works');
$standby->stop;
$standby->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'");
start_again($standby, $clocks{without_library});
$ledger->note(split /\n/, $standby->safe_psql('postgres', $insert));
$ledger->is_sound('without the library: with it again ids go on above what the tables hold');

$_->stop('immediate') for values %standbys;
done_testing();
