# Proves that snowid.create_partitions(), called now and then, keeps a partition ready for every id while
# the clock goes on: over ends of months, a leap day, changes to summer time, years in which nobody called
# it, up to the last id of the layout; that drop_partitions() drops what its retention says by that clock;
# and that neither calls at once nor open transactions of readers and writers get in the way.
#
# It would fail if periods were counted in the session's time zone, if a month were a fixed number of days,
# if a gap were left after an idle time, if what was dropped came back, or if making a partition needed a
# lock that waits for readers.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Time::Local qw(timegm);
use Snowid;

my $clock = Snowid::Clock->new;
my $node = server('main', clock => $clock, conf => "TimeZone = 'America/New_York'\nmax_locks_per_transaction = 256");
my $major = major($node);
sub sql { return $node->safe_psql('postgres', $_[0]) }

# Sets the server's clock, which runs on from there.
sub at
{
	my ($year, $month, $day, $hour, $minute) = @_;
	$clock->runs(timegm(0, $minute // 0, $hour // 12, $day, $month - 1, $year) * 1000 - unix_ms());
	sql('SELECT snowid.accept_clock()');
	return;
}

# What a call makes: its partitions, with their times in UTC.
sub made
{
	my ($table, $arguments) = @_;
	return sql("SELECT partition, from_time AT TIME ZONE 'UTC', to_time AT TIME ZONE 'UTC' FROM snowid.create_partitions('$table', $arguments)");
}

# Where a new row goes.
sub inserted { return sql("INSERT INTO $_[0] DEFAULT VALUES RETURNING tableoid::regclass") }

# --- Months ---

at(2028, 1, 31);
sql('CREATE TABLE months (id bigint PRIMARY KEY DEFAULT next_id(5)) PARTITION BY RANGE (id)');
is(made('months', "'1 month'"),
	"months_p20280101|-infinity|2028-02-01 00:00:00\nmonths_p20280201|2028-02-01 00:00:00|2028-03-01 00:00:00",
	'31 January: this month, and the next one ahead');
is(inserted('months'), 'months_p20280101', 'a row goes into this month');
is(made('months', "'1 month'"), '', 'a second call makes nothing');
at(2028, 2, 29, 23, 58);
is(inserted('months'), 'months_p20280201', '29 February: a row goes into the next month, which was ready');
is(made('months', "'1 month'"), 'months_p20280301|2028-03-01 00:00:00|2028-04-01 00:00:00', 'and March is made');
at(2028, 3, 1, 0, 1);
is(inserted('months'), 'months_p20280301', '1 March, while it is still February in New York: a row goes into March');

# --- Days, over the change to summer time in New York, on 12 March at 7:00 UTC ---

at(2028, 3, 11);
sql('CREATE TABLE days (id bigint PRIMARY KEY DEFAULT next_id(6)) PARTITION BY RANGE (id)');
is(made('days', "'1 day', ahead => '3 days'"),
	"days_p20280311|-infinity|2028-03-12 00:00:00\n"
	. "days_p20280312|2028-03-12 00:00:00|2028-03-13 00:00:00\n"
	. "days_p20280313|2028-03-13 00:00:00|2028-03-14 00:00:00\n"
	. 'days_p20280314|2028-03-14 00:00:00|2028-03-15 00:00:00', 'days are of 24 hours, from midnight in UTC');
at(2028, 3, 13, 23, 59);
is(inserted('days'), 'days_p20280313', 'and a row goes into its day');

# --- Nobody called it for two years ---

at(2030, 3, 31);
like(error_of($node, 'postgres', 'INSERT INTO months DEFAULT VALUES'), qr/23514: +no partition of relation "months" found/,
	'where nobody called it, rows find no partition');
my $made = made('months', "'1 month'");
is(scalar(split /\n/, $made), 25, 'a call after two years makes all months, and the next one');
is(sql("SELECT bool_and(from_id = before) FROM (SELECT from_id, lag(to_id, 1, from_id) OVER (ORDER BY from_id NULLS FIRST) AS before FROM snowid.partitions('months')) AS p WHERE from_id IS NOT NULL"),
	't', 'without a gap');
is(inserted('months'), 'months_p20300301', 'and rows go in again');
sql("INSERT INTO months SELECT make_id(at, 5) FROM generate_series(timestamptz '2028-01-01+00', '2030-03-01+00', '1 day') AS at");

# --- Retention ---

is(sql("SELECT count(*), max(to_time) AT TIME ZONE 'UTC' FROM snowid.drop_partitions('months', '3 months')"),
	'23|2029-12-01 00:00:00', 'on 31 March, three months back is 31 December: what ended by then goes');
is(sql("SELECT count(*), min(id_timestamp(id)) AT TIME ZONE 'UTC' FROM months WHERE id < id_floor('2030-03-01+00')"),
	'90|2029-12-01 00:00:00', 'and what is younger stays');
is(sql("SELECT count(*) FROM snowid.drop_partitions('months', '3 months')"), '0', 'a second call drops nothing');
is(made('months', "'1 month'"), '', 'and what was dropped is not made again');
like(error_of($node, 'postgres', "INSERT INTO months VALUES (make_id('2028-05-05+00', 5))"), qr/23514/, 'ids as old find no partition');
like(made('months', "'1 month', starting => '2029-11-05+00'"), qr/^months_p20291101\|-infinity\|2029-12-01 00:00:00$/,
	'until a call says from when on there shall be partitions');
is(sql("INSERT INTO months VALUES (make_id('2028-05-05+00', 5)), (-1) RETURNING tableoid::regclass"),
	"months_p20291101\nmonths_p20291101", 'then they go into the first, as all ids before it do');

# --- Many calls at once, and open transactions ---

sql('CREATE TABLE busy (id bigint PRIMARY KEY DEFAULT next_id(7)) PARTITION BY RANGE (id)');
made('busy', "'1 day'");
my $reader = background($node, 'postgres');
$reader->query_safe('BEGIN; SELECT count(*) FROM busy; INSERT INTO busy DEFAULT VALUES');
$node->append_conf('postgresql.conf', 'lock_timeout = 60s');
$node->reload;
my $call = "SELECT partition FROM snowid.create_partitions('busy', '1 day', ahead => '30 days')";
my @files = at_once($node, map { [ 'postgres', $call ] } 1 .. 8);
my @partitions = map { split /\n/, slurp_file($_) } @files;
my %distinct = map { $_ => 1 } @partitions;
is(scalar(@partitions) . ', ' . scalar(keys %distinct), '29, 29', 'eight calls at once make each partition once, past an open transaction that reads and writes');
$reader->query_safe('COMMIT');
my $maker = background($node, 'postgres');
$maker->query_safe("BEGIN; SELECT count(*) FROM snowid.create_partitions('busy', '1 day', ahead => '40 days')");
is(sql("SET lock_timeout = '10s'; INSERT INTO busy DEFAULT VALUES; SELECT count(*) FROM busy"), '2',
	'rows are read and written while a call is not committed yet');
$maker->query_safe('ROLLBACK');
$_->quit for $reader, $maker;

# --- The last month of the layout ---

at(2045, 11, 1);
sql('CREATE TABLE last (id bigint PRIMARY KEY DEFAULT next_id(8)) PARTITION BY RANGE (id)');
is(made('last', "'1 week', ahead => '0'"), 'last_p20451030|-infinity|infinity', 'the partition in which ids end has no end');
at(2046, 2, 1);
is(made('last', "'1 week'"), '', 'past the end there is nothing to make');
is(sql("SELECT count(*) FROM snowid.drop_partitions('last', '0')"), '0', 'nor to drop');
is(sql("INSERT INTO last VALUES (9223372036854775807) RETURNING tableoid::regclass"), 'last_p20451030', 'the greatest id goes in');

# --- Intervals that only some versions know ---

SKIP:
{
	skip 'intervals are finite before PostgreSQL 17', 3 if $major < 17;
	my $error = qr/22023: +.* must be .*finite/;
	like(error_of($node, 'postgres', "SELECT snowid.create_partitions('days', 'infinity')"), $error, 'an infinite interval is refused');
	like(error_of($node, 'postgres', "SELECT snowid.create_partitions('days', '1 day', ahead => 'infinity')"), $error, 'so is one ahead');
	like(error_of($node, 'postgres', "SELECT snowid.drop_partitions('days', 'infinity')"), $error, 'and an infinite retention');
}

done_testing();
