#!/usr/bin/perl
# A Perl program whose die handler reports to AOS (core modules only).
use strict;
use warnings;
use Carp qw(longmess);
use HTTP::Tiny;
use JSON::PP;

$SIG{__DIE__} = sub {
    my ($message) = @_;
    my $trace = longmess('');
    my $answer = HTTP::Tiny->new(timeout => 10)->post(
        "$ENV{SVC_URL}/api/errors/v1/report",
        {
            headers => { 'content-type' => 'application/json', authorization => "Bearer $ENV{SVC_TOKEN}" },
            content => encode_json({
                project         => $ENV{SVC_PROJECT},
                error_level     => 'error',
                error_message   => $message,
                exception_class => 'die',
                stack_trace     => $message . $trace,
                environment     => 'production',
                app_version     => '1.4.0',
                tags            => ['perl'],
            }),
        },
    );
    print $answer->{content}, "\n";
};

sub parse_row {
    my ($number, $row) = @_;
    my @cells = split /;/, $row;
    die "customer '$number' has no e-mail address" unless defined $cells[2];
    return \@cells;
}

parse_row($ARGV[0], 'Ada;Lovelace');
