# Calls of every function of the extension, listed from the catalogue: arguments by their names and types, so
# that the next function is called too, or found to be missing a value here.
package SnowidCalls;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(extension_functions make_fixtures sane_call every_use outcomes);

# Every function and procedure of the extension: {name} as called, {signature}, {kind}, {arguments}: [[name, type]…].
# All names are written with their schemas: nothing in a call is looked up.
sub extension_functions
{
	my ($node, $database) = @_;
	my @functions;
	my $rows = $node->safe_psql($database, <<'SQL');
SET search_path = pg_catalog;
SELECT concat_ws('|', format('%I.%I', n.nspname, p.proname), p.oid::regprocedure, p.prokind,
           array_to_string(ARRAY(SELECT concat_ws('=', coalesce(nullif(p.proargnames[a.n], ''), 'argument'),
                                            format('%I.%I', tn.nspname, t.typname))
                                   FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n)
                                   JOIN pg_type t ON t.oid = a.type JOIN pg_namespace tn ON tn.oid = t.typnamespace
                                  ORDER BY a.n), ','))
  FROM pg_extension e
  JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid AND d.deptype = 'e'
  JOIN pg_proc p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
  JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE e.extname = 'pg_snowid'
 ORDER BY p.oid::regprocedure::text COLLATE "C"
SQL
	for my $row (split /\n/, $rows)
	{
		my ($name, $signature, $kind, $arguments) = split /\|/, $row, 4;
		my @arguments = map { [ split /=/, $_, 2 ] } split /,/, $arguments;
		push @functions, { name => $name, signature => $signature, kind => $kind, arguments => \@arguments };
	}
	return @functions;
}

# Makes as a role, in a schema of this name, what the values of sane_call name.
sub make_fixtures
{
	my ($node, $database, $role, $schema) = @_;
	$node->safe_psql($database, <<"SQL");
SET SESSION AUTHORIZATION $role;
SET search_path = pg_catalog;
CREATE SCHEMA $schema;
CREATE SCHEMA ${schema}_bound;
CREATE TABLE $schema.rows (id bigint, created_at timestamptz);
INSERT INTO $schema.rows (created_at) SELECT '2025-01-01 00:00:00+00'::timestamptz + n * interval '1 minute' FROM generate_series(1, 50) n;
CREATE TABLE $schema.parted (id bigint) PARTITION BY RANGE (id);
CREATE SEQUENCE $schema.tickets AS bigint INCREMENT BY 3;
COMMENT ON SEQUENCE $schema.tickets IS 'pg_snowid tickets: server 1 of 3';
SQL
	return;
}

# A value that the function is meant for, by the name of the parameter or else by its type.
my %by_name = (
	'parent pg_catalog.regclass' => q('SCHEMA.parted'),
	'target pg_catalog.regclass' => q('SCHEMA.rows'),
	'created_at_column pg_catalog.name' => q('created_at'),
	'schema_name pg_catalog.text' => q('SCHEMA_bound'),
	'name pg_catalog.text' => q('SCHEMA.made'),
	'layout pg_catalog.text' => q('pg_snowid'),
	'ahead pg_catalog."interval"' => q('3 days'),
	'starting pg_catalog.timestamptz' => 'pg_catalog.clock_timestamp()',
	'at pg_catalog.timestamptz' => 'pg_catalog.clock_timestamp()',
	'digits pg_catalog.text' => q('5'),
	'shortcode pg_catalog.text' => q('F'),
	'base32 pg_catalog.text' => q('0000000000005'),
	'generated pg_catalog.text' => 'NULL',
	'expression pg_catalog.text' => q('1'),
	'statement pg_catalog.text' => q('CREATE TABLE SCHEMA.made_by_statement ()'));
my %by_type = (
	'pg_catalog.int4' => '5',
	'pg_catalog.int8' => '3706503089356805120',
	'pg_catalog."numeric"' => '1',
	'pg_catalog.bool' => 'false',
	'pg_catalog.text' => q('text'),
	'pg_catalog.name' => q('id'),
	'pg_catalog.regclass' => q('SCHEMA.tickets'),
	'pg_catalog.regrole' => 'CURRENT_ROLE',
	'pg_catalog.timestamptz' => q('2025-06-01 00:00:00+00'),
	'pg_catalog."timestamp"' => q('2025-06-01 00:00:00'),
	'pg_catalog.date' => q('2025-06-01'),
	'pg_catalog."interval"' => q('1 day'),
	'pg_catalog.jsonb' => q('{}'),
	'pg_catalog.internal' => 'NULL', # the functions are STRICT: nothing else can be passed by hand
	(map { ("snowid.$_" => row_of($_)) } 'layouts', 'custom_layouts'));

sub row_of
{
	my ($type) = @_;
	my $row = q[{"name": "x", "epoch": "2025-01-01 00:00:00+00", "time_unit": "1 ms", "time_bits": 41, ]
	  . q["field_names": ["node", "count"], "field_bits": [10, 12]}];
	return "pg_catalog.jsonb_populate_record(NULL::snowid.$type, '$row'::pg_catalog.jsonb)";
}

sub sane_value
{
	my ($schema, $argument) = @_;
	my ($name, $type) = @$argument;
	my $value = $by_name{"$name $type"} // $by_type{$type}
	  // die "no value for parameter $name of type $type: add one to SnowidCalls.pm";
	$value =~ s/SCHEMA/$schema/g;
	return $type eq 'pg_catalog.internal' || $type =~ /^snowid\./ ? $value : "$value\::$type";
}

# sane_call(SCHEMA, FUNCTION, N => VALUE…): a call with such values, some of them replaced.
sub sane_call
{
	my ($schema, $function, %replaced) = @_;
	my @arguments = @{ $function->{arguments} };
	my $list = join ', ', map { $replaced{$_} // sane_value($schema, $arguments[$_]) } 0 .. $#arguments;
	return ($function->{kind} eq 'p' ? 'CALL ' : 'SELECT * FROM ') . "$function->{name}($list)";
}

# Statements that call each function, read each view, write the table of layouts, and use defaults, conditions and
# bound functions. The operators in them are written with their schema too.
sub every_use
{
	my ($node, $database, $schema) = @_;
	my @functions = extension_functions($node, $database);
	my ($public) = map { $_->{name} =~ /^(.*)\.id_timestamp$/ && $1 ne 'snowid' ? $1 : () } @functions;
	my %kind = map { split /\|/ } split /\n/, $node->safe_psql($database, <<'SQL');
SET search_path = pg_catalog;
SELECT c.oid::regclass, c.relkind
  FROM pg_extension e JOIN pg_depend d ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
 WHERE e.extname = 'pg_snowid'
SQL
	my ($layouts) = grep { $kind{$_} eq 'r' && /layouts$/ } sort keys %kind;
	return (
		(map { sane_call($schema, $_) } @functions),
		(map { "SELECT * FROM $_" } sort keys %kind),
		"INSERT INTO $layouts (name, epoch, time_bits, field_names, field_bits) VALUES ('$schema', '2025-01-01 00:00:00+00', 41, '{node,count}', '{10,12}')",
		"UPDATE $layouts SET note = 'x'",
		"DELETE FROM $layouts",
		"SELECT snowid.migrate_column('$schema.rows'::pg_catalog.regclass, 'id'::pg_catalog.name, 5, NULL::pg_catalog.timestamptz)",
		"INSERT INTO $schema.rows DEFAULT VALUES",
		"SELECT id FROM $schema.rows WHERE $public.id_timestamp(id) OPERATOR(pg_catalog.>) '2025-01-01 00:00:00+00'::pg_catalog.timestamptz",
		"SELECT snowid.revert_column('$schema.rows'::pg_catalog.regclass, 'id'::pg_catalog.name)",
		"SELECT snowid.bind_schema('${schema}_bound'::pg_catalog.text, '2025-01-01 00:00:00+00'::pg_catalog.timestamptz, 5, true)",
		"SELECT ${schema}_bound.id_timestamp(${schema}_bound.next_id())");
}

# outcomes(NODE, DATABASE, PRELUDE, [SQL]…): the SQLSTATE that each statement ended with, and all of the errors.
# Fewer than statements if the session was lost.
sub outcomes
{
	my ($node, $database, $prelude, @statements) = @_;
	my ($out, $errors) = ('', '');
	my $script = "\\set VERBOSITY verbose\n$prelude;\n\\o /dev/null\n"
	  . join '', map { "\\warn call: $_\n$_;\n\\echo :SQLSTATE\n" } @statements;
	$node->psql($database, $script, stdout => \$out, stderr => \$errors, on_error_stop => 0);
	return ([ $out =~ /^([0-9A-Z]{5})$/mg ], $errors);
}

1;
