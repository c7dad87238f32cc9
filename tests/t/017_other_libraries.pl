# Proves that no id repeats where libraries of several versions meet on one server: a new file is put in
# place while sessions have the old one loaded, first one and then the other makes the shared block, both
# at once. A library that takes the block to be laid out otherwise draws nothing from it; the error names
# both and says what to do. Libraries that agree on the layout share it.
#
# It would fail if a library took a block for its own whatever made it, if PostgreSQL's own words about
# sizes were all that a user is told, or if a session could hold two libraries.
#
# The other libraries are copies of the installed file, in which one thing was changed: what it says of
# itself (Header in base/src/memory/header.rs), which is all that libraries compare. Their code is the same.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $dir = PostgreSQL::Test::Utils::tempdir('libraries');
my $in_place = "$dir/pg_snowid.so";

# other(NAME, VERSION, LAYOUT, SIZE): a library of that version, whose block differs by so much.
my $installed;
sub other
{
	my ($name, $version, $layout, $size) = @_;
	my $library = $installed;
	my $magic = 'pg_snowid memory';
	is(scalar(() = $library =~ /$magic/g), 1, "$name: what the library says of itself is found");
	my $at = index($library, $magic) + length $magic;
	my ($its_layout, $its_size, $its_version) = unpack 'Q Q Z32', substr $library, $at, 48;
	is($its_version, '0.1.0', "$name: with its version");
	substr($library, $at, 48) = pack 'Q Q a32', $its_layout ^ $layout, $its_size + $size, $version;
	append_to_file("$dir/$name.so", $library);
	chmod 0755, "$dir/$name.so";
	return;
}

# As an installation does it: sessions that have the old file loaded keep it.
sub put_in_place
{
	my ($name) = @_;
	append_to_file("$in_place.new", slurp_file("$dir/$name.so"));
	chmod 0755, "$in_place.new";
	rename "$in_place.new", $in_place or die "$in_place: $!";
	return;
}

# A server whose extension uses the library in $dir.
sub server_of
{
	my ($name, %options) = @_;
	my $node = server($name, %options);
	$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$in_place' WHERE probin = '\$libdir/pg_snowid'");
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$in_place'") if $options{preload};
	return $node;
}

sub refused
{
	my ($message, $first, $second) = @_;
	return qr/55000: +$message\nDETAIL: .*pg_snowid \Q$first\E \(layout [0-9a-f]{16}\).* pg_snowid \Q$second\E \(layout [0-9a-f]{16}\).*\nHINT: +Connect again\. .*restart the server/;
}

my $copy = 'COPY (SELECT next_id(5) FROM generate_series(1, 30000)) TO STDOUT';

# --- Preloaded ---

my $node = server_of('preloaded', preload => 1);
$installed = slurp_file($node->config_data('--pkglibdir') . '/pg_snowid.so');
other('old', '0.1.0', 0, 0);
other('same_size', '0.1.1', 1, 0);
other('larger', '0.1.2', 2, 1 << 20);
other('agrees', '0.1.3', 0, 0);

put_in_place('old');
$node->restart;
my $session = background($node, 'postgres');
my $first = $session->query_safe('SELECT next_id(5)');
put_in_place('larger');
my $is = survey([ at_once($node, ([ 'postgres', $copy ]) x 4) ]);
is($is->{distinct}, 120_000, "preloaded: sessions after a new file was put in place go on: $is->{distinct} distinct ids, $is->{repeated} repeated");
my $last = $session->query_safe('SELECT next_id(5)');
cmp_ok($last, '>', $first, 'and so does one from before');
for my $name ('same_size', 'larger', 'agrees', 'old')
{
	my $version = { same_size => '0.1.1', larger => '0.1.2', agrees => '0.1.3', old => '0.1.0' }->{$name};
	my $second = refused('another library of pg_snowid is loaded already', '0.1.0', $version);
	for my $sql ("LOAD '$dir/$name.so'", "CREATE FUNCTION draw(bigint) RETURNS bigint STRICT LANGUAGE c AS '$dir/$name.so', 'snowid_next_id'")
	{
		like(error_of($node, 'postgres', $sql), $second, "preloaded: $sql is refused");
	}
}
$session->quit;
$node->restart;
like(error_of($node, 'postgres', "LOAD '$dir/old.so'"), refused('another library of pg_snowid is loaded already', '0.1.2', '0.1.0'),
	'a restart loads what is in place');
cmp_ok($node->safe_psql('postgres', 'SELECT next_id(5)'), '>', $last, 'and ids go on');
my $major = major($node);
$node->stop;

if ($major < 17)
{
  SKIP: { skip 'no shared memory without preloading before PostgreSQL 17', 1 }
	done_testing();
	exit;
}

# --- Nothing preloaded ---

put_in_place('old');
$node = server_of('plain', preload => 0);
my @drawing = ('SELECT next_id(5)', 'SELECT count(*) FROM next_ids(5, 3)', 'SELECT snowflake_id(1, 2)',
	'SELECT snowid.advance(4212345678901234176)', 'SELECT shared_memory FROM snowid.status', 'SELECT count(*) FROM snowid.generators');
for my $case ([ 'same_size', '0.1.1' ], [ 'larger', '0.1.2' ])
{
	my ($name, $version) = @$case;
	for my $order ([ 'old', '0.1.0', $name, $version ], [ $name, $version, 'old', '0.1.0' ])
	{
		my ($there, $there_version, $new, $new_version) = @$order;
		put_in_place($there);
		$node->restart;
		$session = background($node, 'postgres');
		$first = $session->query_safe('SELECT next_id(5)');
		put_in_place($new);
		for my $sql (@drawing)
		{
			like(error_of($node, 'postgres', $sql), refused("pg_snowid's shared memory is of another version", $there_version, $new_version),
				"made by $there, $new is put in place: $sql is refused");
		}
		is($node->safe_psql('postgres', "SELECT id_shard($first)"), '5', 'what needs no shared memory works');
		cmp_ok($session->query_safe('SELECT next_id(5)'), '>', $first, 'a session from before goes on');
		$session->quit;
	}
}

# --- Two at once ---

# Each copy is drawn from by a function of its own: a session that calls one has no other library.
$node->safe_psql('postgres', "CREATE FUNCTION $_(bigint) RETURNS bigint STRICT LANGUAGE c AS '$dir/$_.so', 'snowid_next_id'")
  for qw(same_size larger agrees);
sub copy_of { my ($function) = @_; return [ 'postgres', $copy =~ s/next_id/$function/r ] }
put_in_place('old');
for my $name (qw(same_size larger))
{
	$node->restart;
	my @jobs = map { copy_of($_) } ('next_id', $name) x 3;
	my @sessions = start_together($node, @jobs);
	my @drew = grep { $sessions[$_]{run}->finish } 0 .. $#sessions;
	my $whose = $drew[0] % 2;
	is_deeply(\@drew, [ grep { $_ % 2 == $whose } 0 .. $#sessions ], "$name and the old library at once: all that draw have one library");
	my @versions = ('0.1.0', { same_size => '0.1.1', larger => '0.1.2' }->{$name});
	like(slurp_file($sessions[ 1 - $whose ]{err}), refused("pg_snowid's shared memory is of another version", @versions[ $whose, 1 - $whose ]),
		'the others are told');
	$is = survey([ map { $_->{out} } @sessions[@drew] ]);
	is($is->{distinct}, 90_000, "$is->{distinct} distinct ids, $is->{repeated} repeated");
}

$node->restart;
$is = survey([ at_once($node, map { copy_of($_) } ('next_id', 'agrees') x 3) ]);
is($is->{distinct}, 180_000, "versions that agree on the layout share it: $is->{distinct} distinct ids, $is->{repeated} repeated");
is($is->{disordered}, 0, 'each session in order');

$node->stop;
done_testing();
