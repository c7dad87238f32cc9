# Proves that examples/many_servers does what docs/many_servers.md says, by the very commands printed there:
# four logical shards on two servers, read as one table, and shard 1 moved from a to b, then back, while
# clients insert into all shards. Each id that a client was given is there exactly once, none is given twice,
# and ids of a shard go on above all earlier ones, though b's clock is 10 s behind. A transaction that is open
# at the switch is waited for, and its row moves too. A switch that cannot succeed leaves the shard as it was.
#
# It would fail if a write could slip in behind the switch, if the generator weren't advanced (ids would
# begin 10 s back), if the router sent readers or writers to a server that lacks rows, or if a plan in the
# document weren't the real one.

use strict;
use warnings;

use File::Basename qw(dirname);
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;
use SnowidShardClients;
use SnowidCrash;

my $root = dirname(__FILE__) . '/../..';
my $document = slurp_file("$root/docs/many_servers.md");
my @blocks = $document =~ /^```sh\n(.*?)^```$/msg;
my %commands;
@commands{ 'set_up', 'copy', 'switch', 'drop' } = @blocks;

my $clock = Snowid::Clock->new;
$clock->runs(-10_000);
my $server_a = server('a', extension => 0, init => [ allows_streaming => 'logical' ]);
my $server_b = server('b', extension => 0, init => [ allows_streaming => 'logical' ], clock => $clock);
needs($server_a, 'postgres_fdw');
is(scalar @blocks, 4, 'the document has the commands: to set up, copy, switch and drop');
$server_a->safe_psql('postgres', 'CREATE DATABASE router');
my %connections = (a => $server_a->connstr('postgres'), b => $server_b->connstr('postgres'), router => $server_a->connstr('router'));
s/'//g for values %connections;

# Starts commands as someone would who reads the document, in the folder of the example.
sub begin
{
	my ($commands) = @_;
	local @ENV{ 'a', 'b', 'router', 'PGOPTIONS' } = (@connections{ 'a', 'b', 'router' }, '-c client_min_messages=warning');
	my $output = '';
	my $run = IPC::Run::start([ 'sh', '-ec', "cd '$root/examples/many_servers'\n$commands" ],
		'<', '/dev/null', '>&', \$output, IPC::Run::timeout(180));
	return { run => $run, output => \$output };
}

sub end
{
	my ($begun, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($begun->{run}->finish, $name) or diag ${ $begun->{output} };
	return;
}

sub run { my ($commands, $name) = @_; return end(begin($commands), $name) }
sub script_for { my ($server, $file) = @_; return qq(psql "\$$server" -v shard=1 -v patience=180s -f $file\n) }

# A switch under a test's load may have to wait longer than the document would.
$commands{switch} =~ s/-v to/-v patience=180s -v to/ or die 'the switch has no destination';

# --- Four shards on two servers ---

run($commands{set_up}, 'the shards and the router are set up');
is($server_a->safe_psql('router', 'SELECT shard_id, server FROM shard_map ORDER BY shard_id'), "0|a\n1|a\n2|b\n3|b", 'the map knows them');
is($server_a->safe_psql('router', "SELECT DISTINCT server, conninfo FROM shard_map ORDER BY server"),
	join("\n", map { "$_|$connections{$_}" } 'a', 'b'),
	'and how to reach them');

my $clients = SnowidShardClients->start($connections{router}, 4);
sub under_load { my ($name) = @_; return wait_until($name, sub { $clients->more(400) }) }
under_load('inserts into all shards');

# --- What the router's queries send to the servers ---

my $begun = begin('psql "$router" -XAtq -f queries.sql');
end($begun, 'the queries run');
my $plans = ${ $begun->{output} };
for my $query (slurp_file("$root/examples/many_servers/queries.sql") =~ /^((?:SELECT|SET)\b[^\\;]*;)/mg)
{
	isnt(index($document, $query), -1, 'the document shows: ' . $query =~ s/\n/ /gr);
}
my ($of_id, $of_day, $of_hour, $of_count) = split /(?<=\n)(?=Append\n)/, $plans =~ s/^b\|.*\n(Foreign Scan)/$1/r;
like($plans, qr/^b\|\Q$connections{b}\E\n/, 'the server of an id is found by the id');
like($of_id, qr/^Foreign Scan on public\.photos_2 photos\n.*Remote SQL: .* FROM shard_2\.photos WHERE \(\(id = \d+::bigint\)\)[^\n]*\n$/s, 'a query by id asks its shard alone');
is(scalar(() = $of_day =~ /Async Foreign Scan .*?Remote SQL: [^\n]* WHERE \(\(id >= 3971046231244800000::bigint\)\) AND \(\(id < 3971771006976000000::bigint\)\)\n/sg), 4, 'a query by time sends the range of ids to all');
is(scalar(() = $of_hour =~ /Async Foreign Scan .*?Remote SQL: [^\n]* WHERE \(\(id >= \$1::bigint\)\)\n/sg), 4, 'so does one with a time relative to now');
is(scalar(() = $of_count =~ /Remote SQL: SELECT public\.id_shard\(id\), count\(\*\) FROM/g), 4, 'each server counts its own');

my $id = $server_b->safe_psql('postgres', 'SELECT max(id) FROM shard_3.photos');
is($server_a->safe_psql('router', <<"SQL"), "3\n1", 'a prepared query asks one shard, too');
SET plan_cache_mode = force_generic_plan;
PREPARE by_id(bigint) AS SELECT id_shard(id) FROM photos WHERE id = \$1 AND id_shard(id) = id_shard(\$1);
EXECUTE by_id($id);
CREATE FUNCTION pg_temp.scans() RETURNS bigint LANGUAGE plpgsql AS \$\$
DECLARE plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE by_id($id)' INTO plan;
    RETURN json_array_length(plan #> '{0,Plan,Plans}');
END \$\$;
SELECT pg_temp.scans();
SQL
like(error_of($server_a, 'router', "INSERT INTO photos VALUES ($id, 'x')"), qr/ERROR: +55000: .*does not allow inserts/, 'the router writes nothing');
like(error_of($server_a, 'router', "INSERT INTO photos (caption) VALUES ('x')"), qr/ERROR: +23514: no partition/, 'and makes no ids');
like(error_of($server_a, 'postgres', "INSERT INTO shard_0.photos VALUES ($id, 'x')"), qr/ERROR: +23514: .*violates check constraint/, 'an id of another shard is kept out of a shard');

my ($new_photos) = $document =~ /^(CREATE FOREIGN TABLE .*?;)/ms or die 'the document has no foreign table without an id';
$server_a->safe_psql('router', "$new_photos INSERT INTO new_photos_2 VALUES ('posted')");
my $posted = $server_b->safe_psql('postgres', "SELECT id FROM shard_2.photos WHERE caption = 'posted'");
like($posted, qr/^\d+$/, "through a foreign table without the id the shard's server makes it");
$clients->add("$posted posted");

# --- Shard 1 moves to b ---

run($commands{copy}, 'a copy of shard 1 is made on b');
under_load('inserts while the copy follows');
is($server_a->safe_psql('router', 'SELECT server FROM shard_map WHERE shard_id = 1'), 'a', 'a still has the shard');
my $closed = qr/ERROR: +25006: schema "shard_1" is closed to writes on this server\nHINT: +Look up the shard's server in shard_map/;
like(error_of($server_b, 'postgres', "INSERT INTO shard_1.photos (caption) VALUES ('x')"), $closed, 'b writes nothing to its copy');

# A copy that isn't complete or doesn't follow: the switch gives up before anything is closed.
sub fails
{
	my ($name, $where) = @_;
	my $switch = begin($commands{switch} =~ s/patience=180s/patience=500ms/r);
	ok(!$switch->{run}->finish, "a switch to a copy that $name fails");
	like(${ $switch->{output} }, qr/\Q$where\E:\d+: ERROR:  canceling statement due to statement timeout/, 'by running out of patience');
	return;
}
my $copied = sub { $server_b->safe_psql('postgres', "UPDATE pg_subscription_rel SET srsubstate = '$_[0]'") };
$server_b->safe_psql('postgres', 'ALTER SUBSCRIPTION shard_1 DISABLE');
$copied->('d');
fails('is not complete', 'move_copied.sql');
$copied->('r');
fails('does not follow', 'move_wait.sql');
is($server_a->safe_psql('postgres', "SELECT count(*) FROM pg_trigger WHERE tgname = 'shard_closed'"), 0, 'and closes nothing');
$server_b->safe_psql('postgres', 'ALTER SUBSCRIPTION shard_1 ENABLE');

# Closed and opened again by hand, as one would after a switch that stopped half-way.
run(script_for('a', 'close.sql'), 'the shard can be closed');
for my $write ("INSERT INTO shard_1.photos (caption) VALUES ('x')", "UPDATE shard_1.photos SET caption = 'x'", 'DELETE FROM shard_1.photos', 'TRUNCATE shard_1.photos')
{
	like(error_of($server_a, 'postgres', $write), $closed, 'then it refuses ' . $write =~ s/ .*//r);
}
run(script_for('a', 'open.sql'), 'and opened again');
under_load('inserts after that');

# A transaction is open at the switch; the clients come to stand behind it.
my $open = background($server_a, 'postgres');
$open->query_safe('BEGIN');
my $late = $open->query_safe("INSERT INTO shard_1.photos (caption) VALUES ('late') RETURNING id");
$begun = begin($commands{switch});
my $waiting = sub { my ($mode) = @_; return "SELECT count(*) FROM pg_locks WHERE relation = 'shard_1.photos'::regclass AND mode = '$mode' AND NOT granted" };
wait_until('the switch waits for the transaction', sub { $server_a->safe_psql('postgres', $waiting->('ShareRowExclusiveLock')) });
wait_until('the clients wait for the switch', sub { $server_a->safe_psql('postgres', $waiting->('RowExclusiveLock')) == 4 });
$open->query_safe('COMMIT');
$open->quit;
$clients->add("$late late");
end($begun, 'the switch succeeds, under load');
is($server_a->safe_psql('router', 'SELECT server FROM shard_map WHERE shard_id = 1'), 'b', 'b has the shard');
under_load('inserts after the switch');
like(error_of($server_a, 'postgres', "INSERT INTO shard_1.photos (caption) VALUES ('x')"), $closed, 'a writes nothing to what it still holds');

my ($rows, $last) = split /\|/, $server_a->safe_psql('postgres', 'SELECT count(*), max(id) FROM shard_1.photos');
my ($moved, $new) = split /\|/, $server_b->safe_psql('postgres',
	"SELECT count(*) FILTER (WHERE id <= $last), count(*) FILTER (WHERE id > $last) FROM shard_1.photos");
is($moved, $rows, "b holds all $rows rows that a had, and no id of its own is among theirs");
cmp_ok($new, '>', 0, "and has made $new since");
run($commands{drop}, 'what is left of it on a is dropped');
is($server_a->safe_psql('postgres', "SELECT to_regnamespace('shard_1'), (SELECT count(*) FROM pg_publication), (SELECT count(*) FROM pg_replication_slots)"), '|0|0', 'nothing of it is left');

# --- And back ---

under_load('inserts before it moves back');
sub back { my ($what) = @_; return run($commands{$what} =~ s/to=b/to=a/r =~ s/from=a/from=b/r, "back to a: $what") }
back('copy');
run(script_for('b', 'close.sql'), 'as if a switch had stopped after closing the shard');
back($_) for 'switch', 'drop';
under_load('inserts after it has moved back');

# --- All that the clients were told is true ---

my %is = $clients->stop;
is($is{missing}, 0, "clients read what they had written through the router, at any time: $is{read} times");
cmp_ok($is{refused}, '>=', 4, "they met a closed or moved shard $is{refused} times and found its server by the map");
my %given;
$given{$_}++ for @{ $is{given} };
my @stored = split /\n/, $server_a->safe_psql('router', q(SELECT id || ' ' || caption FROM photos));
my %stored;
$stored{$_}++ for @stored;
my $lost = grep { !$stored{$_} } keys %given;
my $strange = grep { !$given{$_} } keys %stored;
is("$lost lost, $strange strange, " . (@stored - keys %stored) . ' twice', '0 lost, 0 strange, 0 twice',
	'each row of which a client was told is there exactly once, and no other: ' . @stored);
my %shards;
$shards{ (fields((split / /)[0]))[1] }++ for @stored;
is(join(' ', sort keys %shards), '0 1 2 3', 'in all shards: ' . join ', ', map { "$_: $shards{$_}" } sort keys %shards);
SnowidCrash::Ledger->new->note_files(@{ $is{files} })->is_sound('no id was given twice, and each client got them in order');

$_->stop for $server_b, $server_a;
done_testing();
