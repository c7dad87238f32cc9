# Proves that the SQL in the README and in docs/ works as a reader would use it: every block fenced as
# ```sql is run by psql, in order, in a fresh database for each file, on a server that has the library
# preloaded. The README creates the extension, the others build on that. Any error fails the test, and
# so does a README without SQL. Examples of errors are not fenced as sql.

use strict;
use warnings;

use File::Basename qw(dirname basename);
use PostgreSQL::Test::Utils;
use Test::More;
use Snowid;

my $root = dirname(__FILE__) . '/../..';
my @files = ("$root/README.md", sort glob "$root/docs/*.md");
ok(-f $files[0], 'there is a README');

my $node = server('main', extension => 0);

for my $file (@files)
{
	my $name = basename($file);
	my $text = slurp_file($file);

	# [line, SQL] of each block.
	my @blocks;
	while ($text =~ /^```sql[^\S\n]*\n(.*?)^```[^\S\n]*$/msg)
	{
		my $line = 1 + (substr($text, 0, $-[1]) =~ tr/\n//);
		push @blocks, [ $line, $1 ];
	}
	my $fences = () = $text =~ /^```sql/mg;
	is(scalar @blocks, $fences, "$name: each block of SQL is closed");
	cmp_ok($fences, '>', 0, "$name: it has blocks of SQL, $fences") if $name eq 'README.md';

	(my $database = lc $name) =~ s/\W/_/g;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION pg_snowid') if $name ne 'README.md';
	my $session = $node->background_psql($database, on_error_stop => 0);
	for my $block (@blocks)
	{
		my ($line, $sql) = @$block;
		$session->{stderr} = '';
		$session->query($sql);
		# Notices are no errors.
		my @errors = grep { /(ERROR|FATAL|error):/ } split /\n/, $session->{stderr};
		is("@errors", '', "$name: the block of line $line runs");
	}
	$session->quit;
}

done_testing();
