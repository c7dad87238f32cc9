# Proves that nothing which the extension's scripts make, nor the scripts themselves, which run as superuser, looks a
# name up where somebody else could have put a better fitting thing of that name: in the schema that the extension is
# created in, in one that stands first in search_path, or in one that has taken the name of a schema that was renamed.
#
# The traps are made from the scripts' own text, the calls from the catalogue: see SnowidHostile and SnowidCalls. With
# every trap set, all calls must end as they do where there is none, and none may have gone off, nor be depended on.
#
# It would fail if a script didn't begin with its search_path, if a public function were written without its schema or
# called with an argument left out, or if a body that is text named the public schema.

use strict;
use warnings;

use Test::More;
use PostgreSQL::Test::Utils;
use Snowid;
use SnowidCalls;
use SnowidHostile;

my $node = server('main', conf => "pg_snowid.datacenter_id = 1\npg_snowid.worker_id = 2");
my $directory = $node->safe_psql('postgres', q(SELECT setting FROM pg_config WHERE name = 'SHAREDIR')) . '/extension';
my ($version) = split /\n/, $node->safe_psql('postgres', q(SELECT extversion FROM pg_extension WHERE extname = 'pg_snowid'));
my %script = map { $_ => slurp_file("$directory/$_") } map { s{.*/}{}r } glob "$directory/pg_snowid--*.sql";
my @updates = grep { /--.*--/ } sort keys %script;
ok(exists $script{"pg_snowid--$version.sql"}, 'there is the script of this version');
note scalar(@updates), ' update scripts: ', "@updates";
for my $file (sort keys %script)
{
	like($script{$file}, qr/\A\\echo [^\n]*\\quit\n(\s*--[^\n]*\n|\s)*SET LOCAL search_path = pg_catalog, pg_temp;/,
		"$file begins with its search_path");
}

# --- The traps: in a schema of their own, in that of the public functions, and in public ---

my $names = hostile_names(values %script);
my %public = map { $_->{signature} =~ s/^public\.//r => 1 } grep { $_->{name} =~ /^public\./ } extension_functions($node, 'postgres');
my %known;

# Loads statements, as a role; any error fails the test.
sub load
{
	my ($database, $role, $sql) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir('load') . '/load.sql';
	append_to_file($file, "SET SESSION AUTHORIZATION $role;\nSET search_path = pg_catalog;\n"
		  . "SET check_function_bodies = off;\nBEGIN;\n$sql\nCOMMIT;\n");
	$node->safe_psql($database, "\\i $file");
	return;
}

sub trap
{
	my ($database, $role, $schema, %options) = @_;
	my $first = !exists $known{"$database.$schema"};
	my $made = hostile_objects($node, 'postgres', $schema, $names, known => $known{"$database.$schema"} //= {}, %options);
	load($database, $role, $made->{sql} . ($first ? "\n" . hostile_relations($node, 'postgres', $schema, $names) : ''));
	return $made;
}

$node->safe_psql('postgres', 'CREATE ROLE owner; CREATE ROLE somebody; CREATE DATABASE hostile OWNER owner');
load('hostile', 'owner', 'CREATE SCHEMA h; CREATE SCHEMA s;');
$node->safe_psql('hostile', 'GRANT CREATE ON SCHEMA public TO somebody');
for my $place ([ 'owner', 'h' ], [ 'owner', 's' ], [ 'somebody', 'public' ])
{
	my ($role, $schema) = @$place;
	my $made = trap('hostile', $role, $schema, $schema eq 'h' ? () : (except => \%public));
	is("@{ $made->{missing} }", '', "schema $schema has a trap for each of $made->{names} names");
	cmp_ok($made->{overloads}, '>', $made->{names}, "schema $schema has $made->{overloads} overloads");
}

# The traps work.
$node->safe_psql('hostile', <<'SQL');
SET search_path = h, pg_catalog;
SELECT array_ndims(ARRAY[1::pg_catalog.int8]), true = true, '1'::int4 FROM pg_class LIMIT 1;
SQL
my $worked = join "\n", captures($node);
like($worked, qr/\Q$_\E as/, "it goes off: $_")
  for 'h.array_ndims(bigint[])', 'h.operator =(boolean,boolean)', 'type int4', 'relation pg_class';

# --- What depends on a trap ---

# All that isn't a trap itself, described, and what it depends on.
sub dependents
{
	my ($database) = @_;
	return $node->safe_psql($database, <<'SQL');
SET search_path = pg_catalog;
WITH member AS (
    SELECT classid, objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
     WHERE d.refclassid = 'pg_extension'::regclass AND e.extname = 'pg_snowid'
), trap AS (
    SELECT 'pg_proc'::regclass AS classid, oid AS objid FROM pg_proc WHERE pronamespace::regnamespace::text IN ('h', 's', 'public')
    UNION ALL SELECT 'pg_operator'::regclass, oid FROM pg_operator WHERE oprnamespace::regnamespace::text IN ('h', 's', 'public')
    UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typnamespace::regnamespace::text IN ('h', 's', 'public')
    UNION ALL SELECT 'pg_class'::regclass, oid FROM pg_class WHERE relnamespace::regnamespace::text IN ('h', 's', 'public')
    EXCEPT SELECT * FROM member
)
SELECT DISTINCT pg_describe_object(d.classid, d.objid, 0) || ' on ' || pg_describe_object(t.classid, t.objid, 0)
  FROM pg_depend d JOIN trap t ON t.classid = d.refclassid AND t.objid = d.refobjid
 WHERE (d.classid, d.objid) NOT IN (SELECT classid, objid FROM trap)
   AND NOT (d.classid = 'pg_cast'::regclass AND d.objid IN (SELECT oid FROM pg_cast WHERE castfunc IN (SELECT objid FROM trap)))
   AND NOT (d.classid = 'pg_constraint'::regclass AND d.objid IN (SELECT oid FROM pg_constraint WHERE contypid IN (SELECT objid FROM trap)))
   AND NOT (d.classid = 'pg_rewrite'::regclass AND d.objid IN (SELECT oid FROM pg_rewrite WHERE ev_class IN (SELECT objid FROM trap)))
SQL
}
is(dependents('hostile'), '', 'before the installation nothing depends on a trap but traps');

# --- Everything used ---

# Functions of which no call succeeds here, and with what they end.
my %always_fails = (
	'snowid_internal.check_layout_name' => '42804',    # for a trigger, which alone may run it
	'snowid_internal.keep_local_rows' => '42804',      # the same
	'snowid_internal.planner_support' => '42883|0A000',    # SQL has no value of the type internal; minors differ in what they say
	'snowid.release_worker' => '55000');      # no worker is leased where there is no etcd
# What superusers only may call, whoever created the extension.
my %superusers = map { ($_ => '42501') }
  qw(snowid.accept_clock snowid.accept_high_water snowid.release_worker snowid_internal.init_high_water);

# The statements that end otherwise than they must: all others succeed. Who neither is a superuser nor created the
# extension is refused some, and misses what they make; that is for the tests of privileges.
sub unexpected
{
	my ($role, $is_creator, $statements, $outcomes) = @_;
	my %fails = (%always_fails, $role eq 'postgres' ? () : %superusers);
	return map { "$statements->[$_]: $outcomes->[$_]" } grep {
		my ($function) = $statements->[$_] =~ /^(?:SELECT \* FROM|CALL) ([\w.]+)\(/;
		my $expected = $fails{ $function // '' } // '00000';
		$outcomes->[$_] !~ /^(?:$expected)$/ && ($is_creator || $role eq 'postgres' || $outcomes->[$_] !~ /^(42501|42883)$/);
	} 0 .. $#$outcomes;
}

# As a role, with this search_path. Returns each statement with the SQLSTATE that it ended with.
sub use_everything
{
	my ($database, $role, $path, $app) = @_;
	make_fixtures($node, $database, $role, $app);
	my @statements = every_use($node, $database, $app);
	my ($outcomes) = outcomes($node, $database, "SET SESSION AUTHORIZATION $role;\nSET search_path = $path", @statements);
	is(@$outcomes, @statements, "$database as $role: all of @{[ scalar @statements ]} statements were executed");
	my $creator = $node->safe_psql($database, q(SELECT extowner::regrole FROM pg_extension WHERE extname = 'pg_snowid'));
	is(join("\n", unexpected($role, $role eq $creator, \@statements, $outcomes)), '', "$database as $role: all succeed but those that can't");
	return [ map { "$statements[$_]: $outcomes->[$_]" } 0 .. $#$outcomes ];
}

my $seen = () = captures($node);
sub none_went_off
{
	my ($database, $what) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my @captures = captures($node);
	is(join("\n", @captures[ $seen .. $#captures ]), '', "$what: no trap went off");
	$seen = @captures;
	is(dependents($database), '', "$what: nothing depends on one");
	return;
}

# The same in two databases, one with the traps and one without.
sub same_use
{
	my ($what, $hostile, $clean, $path, $app) = @_;
	for my $role ('owner', 'postgres')
	{
		is_deeply(use_everything($hostile, $role, $path, "${app}_$role"), use_everything($clean, $role, 'public', "${app}_$role"),
			"$what, as $role: with traps everything ends as without");
		none_went_off($hostile, "$what, as $role");
	}
	return;
}

# --- Created by an ordinary owner, in a schema of his own ---

my $create = sub {
	my ($database, $role, $path, $schema) = @_;
	is(error_of($node, $database, "SET SESSION AUTHORIZATION $role; SET search_path = $path; CREATE EXTENSION pg_snowid $schema"), '',
		"$role creates the extension in $database");
};
$node->safe_psql('postgres', 'CREATE DATABASE owned TEMPLATE hostile OWNER owner; CREATE DATABASE clean OWNER owner');
load('clean', 'owner', 'CREATE SCHEMA s;');
$create->('owned', 'owner', 'h, s, pg_catalog', 'SCHEMA s');
none_went_off('owned', 'created by an owner');
$create->('clean', 'owner', 'public', 'SCHEMA s');

# With its types there are more arguments to set traps for.
$known{"owned.$_"} = { %{ $known{"hostile.$_"} } } for 'h', 's';
trap('owned', 'owner', 'h', installed => 1);
trap('owned', 'owner', 's', installed => 1, except => \%public);
same_use('created by an owner', 'owned', 'clean', 'h, s, pg_catalog', 'app');

# --- The schema of the public functions renamed, and its old name taken ---

load($_, 'owner', 'ALTER SCHEMA s RENAME TO t; CREATE SCHEMA s;') for 'owned', 'clean';
delete $known{'owned.s'};
trap('owned', 'owner', 's', installed => 1);
same_use('renamed', 'owned', 'clean', 'h, s, pg_catalog', 'renamed');

# --- Created by a superuser in public, where others may create ---

$node->safe_psql('postgres', 'CREATE DATABASE shared TEMPLATE hostile OWNER owner; CREATE DATABASE clean_shared OWNER owner');
$create->('shared', 'postgres', 'public, pg_catalog', '');
none_went_off('shared', 'created by a superuser in public');
$create->('clean_shared', 'postgres', 'public', '');
$node->safe_psql($_, 'GRANT USAGE ON SCHEMA public TO owner') for 'shared', 'clean_shared';
$known{'shared.public'} = { %{ $known{'hostile.public'} } };
trap('shared', 'somebody', 'public', installed => 1, except => \%public);
same_use('created by a superuser in public', 'shared', 'clean_shared', 'public, pg_catalog', 'app');

# --- Updated ---

for my $file (@updates)
{
	my ($from, $to) = $file =~ /^pg_snowid--(.*)--(.*)\.sql$/;
	$node->safe_psql('postgres', 'CREATE DATABASE updated TEMPLATE hostile OWNER owner');
	$create->('updated', 'owner', 'h, s, pg_catalog', "SCHEMA s VERSION '$from'");
	is(error_of($node, 'updated', "SET SESSION AUTHORIZATION owner; SET search_path = h, s, pg_catalog; ALTER EXTENSION pg_snowid UPDATE TO '$to'"), '',
		"it is updated from $from to $to");
	none_went_off('updated', "updated from $from to $to");
	$node->safe_psql('postgres', 'DROP DATABASE updated');
}

done_testing();
