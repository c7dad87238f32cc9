# Proves that layouts which users add are part of a dump, and the built-in ones are not: the owner of a
# database, who is no superuser, adds layouts, dumps the database and restores it into another server,
# under another TimeZone and IntervalStyle. Ids read the same there, by name, in a generated column and
# through an index that holds a layout; the built-in layouts are there once; and a dump is the same again. So
# it is where a later version has built in a name that a user has given, and after pg_upgrade.
#
# It would fail if the table's rows weren't marked for dumps, if the built-in ones were dumped too (their
# names are refused), if the owner had no right to the table, if a layout in an expression were written
# in a way that depends on settings, or if a new built-in layout stopped a restore or took a user's place.

use strict;
use warnings;

use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $from = server('from', extension => 0, conf => "TimeZone = 'America/St_Johns'\nDateStyle = 'SQL, DMY'\nIntervalStyle = 'iso_8601'");
my $to = server('to', extension => 0, conf => "TimeZone = 'Asia/Kathmandu'\nDateStyle = 'German, MDY'\nIntervalStyle = 'sql_standard'");

for my $node ($from, $to)
{
	$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN; CREATE ROLE helper LOGIN');
	$node->safe_psql('postgres', "CREATE DATABASE $_ OWNER owner") for 'plain', 'folder', 'later';
}

my $as_owner = "SET SESSION AUTHORIZATION owner;\n";
$from->safe_psql('plain', $as_owner . <<'SQL');
CREATE SCHEMA ext;
CREATE EXTENSION pg_snowid SCHEMA ext;
INSERT INTO snowid.custom_layouts (name, epoch, time_unit, time_bits, field_names, field_bits, note)
VALUES ('mine', '2024-02-29 12:34:56.789+05:45', '20 milliseconds', 40, '{region,"node, no",seq}', '{4,7,12}', E'a tab\t, a "quote"'),
       ('bare', '1970-01-01 00:00:00+00', '1 second', 33, '{}', '{}', NULL);
SQL
is(error_of($from, 'plain', "$as_owner GRANT INSERT ON snowid.custom_layouts TO helper"), '', 'the owner lets another role add layouts');
is( error_of($from, 'plain', "SET SESSION AUTHORIZATION helper;\n"
		. "INSERT INTO snowid.custom_layouts (name, epoch, time_bits, field_names, field_bits) VALUES ('theirs', '2020-01-01+00', 41, '{n}', '{20}')"),
	'', 'who does so');
like(error_of($from, 'plain', "SET SESSION AUTHORIZATION helper;\nDELETE FROM snowid.custom_layouts WHERE name = 'mine'"),
	qr/42501: +permission denied for table custom_layouts/, 'and may do no more');
is(error_of($from, 'plain', "$as_owner BEGIN; TRUNCATE snowid.custom_layouts; ROLLBACK"), '', 'the owner may empty the table');
like(error_of($from, 'plain', "$as_owner ALTER TABLE snowid.custom_layouts DISABLE TRIGGER ALL"), qr/42501:/, 'and not change what guards it');

# A layout as a constant, in the time zone and interval style of the server.
sub constant
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, "SET datestyle = 'ISO'; SELECT quote_literal(snowid.layout('mine')) || '::snowid.layouts'");
}

my $mine = constant($from, 'plain');
$from->safe_psql('plain', $as_owner . <<"SQL");
CREATE TABLE foreign_ids (
    id bigint PRIMARY KEY,
    created_at timestamptz GENERATED ALWAYS AS ((ext.decode_as($mine, id)).created_at) STORED
);
CREATE INDEX foreign_ids_fields ON foreign_ids (((ext.decode_as($mine, id)).fields));
INSERT INTO foreign_ids
SELECT ext.make_as('mine', '2025-01-01 00:00:00+00'::timestamptz + n * interval '1 hour', jsonb_build_object('region', n % 16, 'node, no', n % 128, 'seq', n))
  FROM generate_series(0, 1999) AS n;
SQL

sub values_of
{
	my ($node, $database) = @_;
	return $node->safe_psql($database, <<'SQL');
SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres';
SELECT * FROM snowid.layouts ORDER BY name;
SELECT f.*, d.*, ext.make_as('mine', d.created_at, d.fields) = id, ext.floor_as('mine', d.created_at)
  FROM foreign_ids AS f, ext.decode_as('mine', id) AS d ORDER BY id;
SELECT id FROM foreign_ids WHERE created_at <> (ext.decode_as('mine', id)).created_at;
SQL
}

# A dump by the owner, without the lines that differ between any two.
sub dump_of
{
	my ($node, $database) = @_;
	local $ENV{PGTZ} = 'UTC';
	my ($out, $err) = run_command([ 'pg_dump', '-d', $node->connstr($database) . ' user=owner' ]);
	die "pg_dump: $err" if $err ne '';
	$out =~ s/^\\(un)?restrict .*\n//mg;
	$out =~ s/^SELECT pg_catalog\.setval\('snowid\..*\n//mg; # moves on with the clock
	return $out;
}

my $values = values_of($from, 'plain');
like($values, qr/^mine\|2024-02-29 06:49:56\.789\+00\|00:00:00\.02\|/m, 'the layout is there, in UTC');
my $rows = () = $values =~ /\n/g;
cmp_ok($rows, '>', 2000, "there is something to compare: $rows rows");
my $dump = dump_of($from, 'plain');
my ($copied) = $dump =~ /^COPY snowid\.custom_layouts .*? FROM stdin;\n(.*?)^\\\.$/ms;
is(join(' ', sort map { (split /\t/)[0] } split /\n/, $copied), 'bare mine theirs', 'the dump has the layouts that users added, and no other');
unlike($dump, qr/ON (TABLE )?snowid\.\w*layouts TO owner/, 'nor the rights that come with the extension');
like($dump, qr/^GRANT INSERT ON TABLE snowid\.custom_layouts TO helper;$/m, 'but those that were granted');

my $dir = PostgreSQL::Test::Utils::tempdir('dumps');
my %restores = (
	plain => sub {
		run_log([ 'pg_dump', '-d', $from->connstr('plain') . ' user=owner', '-f', "$dir/plain.sql" ]) &&
		run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $to->connstr('plain') . ' user=owner', '-f', "$dir/plain.sql" ]);
	},
	folder => sub {
		run_log([ 'pg_dump', '-Fd', '-d', $from->connstr('plain') . ' user=owner', '-f', "$dir/dir" ]) &&
		run_log([ 'pg_restore', '-e', '-j', '2', '-d', $to->connstr('folder') . ' user=owner', "$dir/dir" ]);
	},
	# A later version, which has a layout of its own of a name in the dump.
	later => sub {
		my $builtin = $from->safe_psql('plain',
			"SET datestyle = 'ISO'; SET intervalstyle = 'postgres'; SELECT rtrim(pg_get_viewdef('snowid_internal.builtin_layouts'), ';')");
		my $upgrade = <<"SQL";
RESET SESSION AUTHORIZATION;
CREATE OR REPLACE VIEW snowid_internal.builtin_layouts AS $builtin
 UNION ALL VALUES ('mine', timestamptz '2030-01-01+00', interval '1 s', 32, '{n}'::text[], '{31}'::integer[], 'new', '0.2');
$as_owner
SQL
		my $script = $as_owner . $dump;
		$script =~ s/^CREATE EXTENSION .*\n/$&$upgrade/m or die 'the dump creates no extension';
		PostgreSQL::Test::Utils::append_to_file("$dir/later.sql", $script);
		run_log([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $to->connstr('later'), '-f', "$dir/later.sql" ]);
	});
for my $how (sort keys %restores)
{
	ok($restores{$how}->(), "$how: the owner restores it without an error");
	ok(values_of($to, $how) eq $values, "$how: layouts and all that is read by them are the same");
	ok(dump_of($to, $how) eq $dump, "$how: a dump of it is the same again");
	$mine = constant($to, $how);
	my $find = qq(FROM foreign_ids WHERE (ext.decode_as($mine, id)).fields = '{"seq": 77, "region": 13, "node, no": 77}');
	like($to->safe_psql($how, "SET enable_seqscan = off; EXPLAIN SELECT id $find"), qr/foreign_ids_fields/, "$how: the index on what a layout says is used");
	is($to->safe_psql($how, "SET enable_seqscan = off; SELECT count(*) $find"), '1', "$how: and finds its row");
	like(error_of($to, $how, "$as_owner UPDATE snowid.custom_layouts SET name = 'twitter' WHERE name = 'mine'"),
		qr/42939: +layout "twitter" is built in/, "$how: the built-in layouts are as safe as before");
}

my $upgraded = PostgreSQL::Test::Cluster->new('upgraded');
$upgraded->init;
$upgraded->append_conf('postgresql.conf', "shared_preload_libraries = 'pg_snowid'");
my $triggers = q(SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'snowid.custom_layouts'::regclass ORDER BY tgname);
my $state = $from->safe_psql('plain', $triggers);
$from->stop;
my $bin = $from->config_data('--bindir');
chdir $dir or die "$dir: $!"; # where it leaves a script
ok( run_log([ 'pg_upgrade', '-d', $from->data_dir, '-D', $upgraded->data_dir, '-b', $bin, '-B', $bin, '-s', $from->host ]),
	'pg_upgrade: without an error');
$upgraded->start;
ok(values_of($upgraded, 'plain') eq $values, 'pg_upgrade: layouts and all that is read by them are the same');
is($upgraded->safe_psql('plain', $triggers), $state, 'pg_upgrade: and the table is guarded as before');

$_->stop for $upgraded, $to;
done_testing();
