/**
 * Masked with the unit, because `870 kB` and `3.5 MB` mean the same (contract 21, masked). `2d` is
 * a canvas and `5G` a network.
 */

/** Never the end of a word, version or longer number. */
const NUMBER_START = String.raw`(?<![\p{L}\p{N}_]|\d[.,:'])(?:(?<=^|[\s([=:,])[-+\u2212])?`;
const NUMBER = String.raw`${NUMBER_START}\d{1,20}(?:[.,'_]\d{1,20}){0,8}(?:[eE][+-]?\d{1,3})?`;
const NUMBER_END = String.raw`(?![\p{L}\p{N}_])`;

const TIME_UNITS = [
  '[nuµμm]s|[num]secs?|s|secs?|m|mins?|h|hrs?',
  'seconds?|minutes?|hours?|days?|weeks?|months?|years?',
  '(?:nano|micro|milli)s(?:econds?)?|millis',
  '(?:milli)?sekunden?|minuten|stunden?|tagen?|tage',
].join('|');
const COMPOUND_DURATION = String.raw`(?:\d{1,9}(?:\.\d{1,9})?(?:[nu\u00b5\u03bcm]s|[hms])){1,5}`;
const SIZE_UNITS =
  '[kmgtpe]i?b|[kmgt]i?bits?|[kmgt]bps|(?:kilo|mega|giga|tera|kibi|mebi|gibi)?(?:bytes?|bits?)|octets?|pixels?';

const DURATION = new RegExp(
  String.raw`${NUMBER_START}${COMPOUND_DURATION}${NUMBER_END}|${NUMBER}(?! m${NUMBER_END})[ \u00a0\u202f-]?(?:${TIME_UNITS})${NUMBER_END}`,
  'giu',
);
const SIZE = new RegExp(String.raw`${NUMBER}[ \u00a0\u202f-]?(?:${SIZE_UNITS})${NUMBER_END}`, 'giu');
/** `512 B`, `64k`, `512M`; case-sensitive. */
const SHORT_SIZE = new RegExp(String.raw`${NUMBER}(?:[ \u00a0]?B|(?<=\d\d)[kKMG])${NUMBER_END}`, 'gu');
const SHARE = new RegExp(String.raw`${NUMBER}(?:[ \u00a0\u202f]?[%\u2030]|[ \u00a0]percent)(?![\p{L}\p{N}_%])`, 'giu');
const DURATION_SEQUENCE = /<duration>(?:(?:,? and |,? )<duration>)+/g;

const MEASURE_HINT = /\d[ \u00a0\u202f-]?[\p{L}%‰]/u;

export function maskMeasures(text: string): string {
  if (!MEASURE_HINT.test(text)) return text;
  return text
    .replace(SHORT_SIZE, '<size>')
    .replace(DURATION, '<duration>')
    .replace(DURATION_SEQUENCE, '<duration>')
    .replace(SIZE, '<size>')
    .replace(SHARE, '<share>');
}
