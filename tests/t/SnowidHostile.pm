# A schema full of traps: for every name that occurs in the extension's scripts and is one of a function, operator,
# type or relation, things of that name, which fit better than PostgreSQL's and the extension's wherever names are
# looked up in that schema. Whatever runs one leaves a line in the server's log, also if its transaction fails.
package SnowidHostile;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Utils;

our @EXPORT = qw(hostile_names hostile_objects hostile_relations captures);

# The names in texts: {words} and {symbols} of operators.
sub hostile_names
{
	my (@texts) = @_;
	my (%words, %symbols);
	for my $text (@texts)
	{
		$words{ lc $1 }++ while $text =~ /([a-z_][a-z0-9_]*)/gi;
		$symbols{$1}++ while $text =~ m{([-+*/<>=~!@#%^&|`?]+)}g;
	}
	# What LIKE, BETWEEN, IN and the like stand for.
	$symbols{$_}++ for qw(= <> < > <= >= ~~ !~~ ||);
	return { words => \%words, symbols => \%symbols };
}

# What the log says was run.
sub captures
{
	my ($node) = @_;
	return slurp_file($node->logfile) =~ /LOG:  captured (.*)/g;
}

# --- What there is: PostgreSQL's and the extension's own, as a database that has the extension knows it ---

sub rows
{
	my ($node, $database, $sql) = @_;
	return map { [ split /\t/, $_, -1 ] } split /\n/,
	  $node->safe_psql($database, "\\pset fieldsep '\\t'\nSET search_path = pg_catalog;\n$sql");
}

sub quoted { return join ',', map { s/'/''/gr } @_ }

# {type => [types that are cast to it implicitly]}
sub implicit_casts
{
	my ($node, $database) = @_;
	my %from;
	push @{ $from{ $_->[1] } }, $_->[0] for rows($node, $database, <<'SQL');
SELECT castsource::regtype, casttarget::regtype FROM pg_cast WHERE castcontext = 'i' AND castsource <> casttarget
SQL
	return \%from;
}

# {type => its name in the catalogue} of the types that the scripts name, and those of the columns of the relations that they name.
sub types_in_use
{
	my ($node, $database, $words) = @_;
	my $list = quoted(sort keys %$words);
	return map { $_->[0] => $_->[1] } rows($node, $database, <<"SQL");
SELECT t.oid::regtype, t.typname FROM pg_type t
 WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typtype = 'b' AND t.typcategory NOT IN ('A', 'G', 'I', 'Z')
   AND (t.typname = ANY (string_to_array('$list', ',')) OR format_type(t.oid, NULL) = ANY (string_to_array('$list', ','))
        OR t.oid IN (SELECT a.atttypid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                      WHERE c.relnamespace = t.typnamespace AND c.relname = ANY (string_to_array('$list', ',')))
        OR t.oid IN ('timestamptz'::regtype, 'timestamp'::regtype, '"char"'::regtype))
SQL
}

# Functions and operators of these names: [name, kind, result, set?, variadic element, [arguments], OUT parameters].
sub candidates
{
	my ($node, $database, $names) = @_;
	my $words = quoted(sort keys %{ $names->{words} });
	my $symbols = quoted(sort keys %{ $names->{symbols} });
	return map { [ @$_[ 0 .. 4 ], [ split /;/, $_->[5] ], $_->[6] ] } rows($node, $database, <<"SQL");
SELECT p.proname, p.prokind, p.prorettype::regtype, p.proretset, CASE p.provariadic WHEN 0 THEN '' ELSE p.provariadic::regtype::text END,
       array_to_string(ARRAY(SELECT a.type::regtype FROM unnest(p.proargtypes) WITH ORDINALITY AS a (type, n) ORDER BY a.n), ';'),
       array_to_string(ARRAY(SELECT format('OUT %I %s', p.proargnames[a.n], a.type::regtype)
                               FROM unnest(p.proallargtypes) WITH ORDINALITY AS a (type, n)
                              WHERE p.proargmodes[a.n] IN ('o', 't') ORDER BY a.n), ', ')
  FROM pg_proc p
 WHERE p.proname = ANY (string_to_array('$words', ','))
   AND (p.pronamespace = 'pg_catalog'::regnamespace OR p.oid IN (
        SELECT d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
         WHERE e.extname = 'pg_snowid' AND d.refclassid = 'pg_extension'::regclass AND d.classid = 'pg_proc'::regclass))
UNION ALL
SELECT o.oprname, 'o', o.oprresult::regtype, false, '',
       concat_ws(';', CASE o.oprleft WHEN 0 THEN 'none' ELSE o.oprleft::regtype::text END, o.oprright::regtype), ''
  FROM pg_operator o
 WHERE o.oprnamespace = 'pg_catalog'::regnamespace AND o.oprname = ANY (string_to_array('$symbols', ','))
SQL
}

# --- The types of arguments for which a trap is set ---

my $family = qr/^("any"|anycompatible|any(compatible)?(element|nonarray|array))$/;
my $impossible = qr/^(internal|cstring|trigger|event_trigger|.*_handler|any.*range|anyenum|pg_ddl_command|record(\[\])?|unknown)$/;

# Lists of types that a call of the candidate may have: its own, or what is cast to them implicitly, one argument
# at a time (all of them where there are two); each type in use where an argument may have any.
sub argument_lists
{
	my ($candidate, $casts, @types) = @_;
	my ($variadic, $own) = @$candidate[ 4, 5 ];
	my @own = @$own;
	my @lists;
	if ($variadic ne '')
	{
		my @fixed = @own[ 0 .. $#own - 1 ];
		my @elements = $variadic =~ $family ? @types : ($variadic);
		my @few = grep { /^(text|name|bigint|integer|regclass)$/ } @elements;
		for my $one (@elements)
		{
			push @lists, [ @fixed, "$one\[]" ], [ @fixed, $one ], map { [ @fixed, $one, $_ ] } @elements;
		}
		push @lists, map { [ @fixed, @$_ ] } combinations(3, @few), combinations(4, @few);
		@lists = map { my $list = $_; map { substituted($_, $list) } @types } @lists if grep { /$family/ } @fixed;
		return @lists;
	}
	return map { substituted($_, \@own) } @types if grep { /$family/ } @own;
	@lists = ([@own]);
	for my $n (0 .. $#own)
	{
		next if $own[$n] eq 'none';
		my @also = grep { my $type = $_; grep { $_ eq $type } @types } @{ $casts->{ $own[$n] } || [] };
		push @lists, map { my @list = @$_; map { my @new = @list; $new[$n] = $_; \@new } @also }
		  @own == 2 ? @lists : [@own];
	}
	return @lists;
}

sub combinations
{
	my ($n, @of) = @_;
	return [] if $n == 0;
	return map { my $rest = $_; map { [ @$rest, $_ ] } @of } combinations($n - 1, @of);
}

# The list with a type for the polymorphic ones.
sub substituted
{
	my ($type, $list) = @_;
	return [ map { !/$family/ ? $_ : /array$/ && !/nonarray/ ? "$type\[]" : $type } @$list ];
}

# --- The traps ---

my $trap = q(RAISE LOG 'captured %s as %%', current_user; RETURN%s;);

# hostile_objects(NODE, DATABASE with the extension, SCHEMA, NAMES, known => {what is there, and is added to},
# except => {signature => 1}, installed => whether the extension's types are there too): {sql}, the statements that
# make functions, operators, types and casts; how many {names} they are for, with how many {overloads}; those
# {missing}.
sub hostile_objects
{
	my ($node, $database, $schema, $names, %options) = @_;
	my $known = $options{known} // {};
	my %types = types_in_use($node, $database, $names->{words});
	my @types = sort keys %types;
	my $casts = implicit_casts($node, $database);
	my (@sql, %made, %wanted);
	my $function = sub {
		my ($name, $result, $kind, @arguments) = @_;
		my ($procedure, $set, $outs) = ($kind->{procedure}, $kind->{set}, $kind->{outs} // '');
		my $signature = "$name(" . join(',', @arguments) . ')';
		return if $known->{"$schema.$signature"}++ || $options{except}{$signature};
		my $body = sprintf $trap, "$schema.$signature" =~ s/['%]/*/gr, $procedure || $set || $outs ne '' || $result eq 'void' ? '' : ' NULL';
		push @sql, sprintf 'CREATE %s %s."%s"(%s) %sLANGUAGE plpgsql AS $trap$BEGIN %s END$trap$;',
		  $procedure ? 'PROCEDURE' : 'FUNCTION', $schema, $name, join(', ', @arguments, $outs eq '' ? () : $outs),
		  $procedure ? '' : 'RETURNS ' . ($set ? 'SETOF ' : '') . "$result ", $body;
		return 1;
	};

	# A type that everything is cast to and from.
	my $disguise = "$schema.disguise";
	if (!$known->{$disguise}++)
	{
		push @sql, "CREATE TYPE $disguise AS ENUM ('x');";
		for my $type (@types)
		{
			my $back = 'to ' . $type =~ s/"//gr;
			$function->('cast', $disguise, {}, $type);
			$function->($back, $type, {}, $disguise);
			push @sql, "CREATE CAST ($type AS $disguise) WITH FUNCTION $schema.\"cast\"($type) AS IMPLICIT;",
			  "CREATE CAST ($disguise AS $type) WITH FUNCTION $schema.\"$back\"($disguise) AS IMPLICIT;";
		}
		push @sql, "CREATE FUNCTION $schema.\"trap\"(what text) RETURNS boolean LANGUAGE plpgsql AS "
		  . q($trap$BEGIN RAISE LOG 'captured % as %', what, current_user; RETURN true; END$trap$;);
		push @sql, map({ "CREATE DOMAIN $schema.\"$types{$_}\" AS $_ CHECK ($schema.trap('type $types{$_}'));" } @types),
		  "CREATE TYPE $schema.record AS (captured text);";
	}

	for my $candidate (candidates($node, $database, $names))
	{
		my ($name, $kind, $result, $set, undef, $own, $outs) = @$candidate;
		my $operator = $kind eq 'o';
		my $key = $operator ? "operator $name" : $name;
		next if grep { $_ ne 'none' && /$impossible/ } @$own;
		$wanted{$key}++;
		my %kind = (procedure => $kind eq 'p', set => $set eq 't', outs => $outs =~ /any/ ? '' : $outs);
		my @lists = (argument_lists($candidate, $casts, @types, $options{installed} ? 'snowid.layouts' : ()),
			@$own && @$own < 3 ? [ map { $_ eq 'none' ? $_ : $disguise } @$own ] : ());
		for my $list (@lists)
		{
			my @arguments = map { /^snowid\./ && !$options{installed} ? 'anyelement' : $_ } grep { $_ ne 'none' } @$list;
			next if grep { /\[\]\[\]|$impossible/ } @arguments;
			my ($element) = map { s/\[\]$//r } @arguments;
			my $returns = $result =~ /$family/ ? (substituted($element // 'text', [$result]))->[0]
			  : $result =~ /$impossible/ && $kind{outs} eq '' || $result =~ /^snowid\./ && !$options{installed} ? 'text' : $result;
			$returns = 'text' if $returns =~ /\[\]\[\]/;
			$made{$key}++ if $function->($key, $returns, \%kind, @arguments);
			push @sql, "CREATE OPERATOR $schema.$name (FUNCTION = $schema.\"$key\", "
			  . ($list->[0] eq 'none' ? '' : "LEFTARG = $list->[0], ") . "RIGHTARG = $list->[1]);"
			  if $operator && !$known->{"$schema.operator $name(@$list)"}++;
		}
	}
	my $overloads = 0;
	$overloads += $_ for values %made;
	return { sql => join("\n", @sql), names => scalar keys %wanted, overloads => $overloads,
		missing => [ grep { !$made{$_} } sort keys %wanted ] };
}

# Statements that make views with the names of PostgreSQL's relations that the scripts name.
sub hostile_relations
{
	my ($node, $database, $schema, $names) = @_;
	my $list = quoted(sort keys %{ $names->{words} });
	return join "\n", map { "CREATE VIEW $schema.$_->[0] AS SELECT $_->[1] FROM pg_catalog.$_->[0] WHERE (SELECT $schema.trap('relation $_->[0]'));" }
	  rows($node, $database, <<"SQL");
SELECT c.relname, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum)
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
 WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname = ANY (string_to_array('$list', ','))
   AND a.attnum > 0 AND a.atttypid <> 'anyarray'::regtype
 GROUP BY c.relname
SQL
}

1;
