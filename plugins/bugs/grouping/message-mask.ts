/**
 * Replaces varying parts by placeholders (contract 21). These contain neither digits nor quotes, so
 * masking is idempotent. Quotes come last: a value with any variable part is masked as a whole.
 */
import { GUID_SOURCE, GUID_START_SOURCE } from '../../../lib/text/guid.js';
import { maskNamesInText } from '../../../lib/text/generated-names.js';
import { maskDates } from './date-masks.js';
import { splitDuplicates } from './duplicate-key-messages.js';
import { SOURCE_EXTENSION } from './parsed-frame.js';
import { maskLongWords, maskPathNumbers, maskPrefixedIds, maskProcessIds } from './id-masks.js';
import { maskMeasures } from './measure-masks.js';
import { maskPaths, maskPods } from './message-paths.js';
import { maskIpv4, maskIpv6, maskMac } from './network-masks.js';
import { maskQuoted } from './quote-masks.js';
import { maskRuntimeValues } from './runtime-values.js';

export interface MaskOptions {
  emails: boolean;
  ip_addresses: boolean;
  mac_addresses: boolean;
  numbers: boolean;
  /** 4 and 5 digits, except codes and ports; disabled with `numbers`. */
  short_numbers: boolean;
  measures: boolean;
  path_numbers: boolean;
  process_ids: boolean;
  long_words: boolean;
  prefixed_ids: boolean;
}

export const ALL_MASKS: MaskOptions = {
  emails: true,
  ip_addresses: true,
  mac_addresses: true,
  numbers: true,
  short_numbers: true,
  measures: true,
  path_numbers: true,
  process_ids: true,
  long_words: true,
  prefixed_ids: true,
};

const WHOLE_GUID = new RegExp(`\\{${GUID_SOURCE}\\}|(?<![0-9a-z])${GUID_SOURCE}(?![0-9a-z])`, 'gi');
const HEX_ID = /(?<![0-9a-z])(?:[0-9a-f]{24}|[0-9a-f]{32})(?![0-9a-z])/gi;

const CLOCK = String.raw`\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?[AP]M\b)?`;
const ZONE = String.raw`(?: ?(?:Z\b|UTC\b|GMT\b|[+-]\d{2}:?\d{2}(?!\d)))?`;
const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const TIMES = [
  String.raw`\d{4}-\d{2}-\d{2}(?:[T ]${CLOCK}${ZONE})?(?![\d-])`,
  String.raw`\d{4}/\d{2}/\d{2}(?:[T ]${CLOCK}${ZONE})?(?![\d/])`,
  String.raw`\d{8}T\d{4}(?:\d{2})?Z?(?![0-9a-z])`,
  String.raw`\d{1,2}[./]\d{1,2}[./]\d{4}(?:,? ${CLOCK}${ZONE})?(?![\d./]\d)`,
  String.raw`\d{1,2}/${MONTH}/\d{4}:\d{2}:\d{2}:\d{2}${ZONE}(?!\d)`,
  String.raw`(?:${DAY}, )?\d{1,2}[ -]${MONTH}[ -]\d{2,4} ${CLOCK}${ZONE}(?!\d)`,
  String.raw`(?:${DAY} )?${MONTH} {1,2}\d{1,2} \d{2}:\d{2}:\d{2}(?: [A-Z]{3,4})?(?: \d{4})?(?!\d)`,
  String.raw`\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?${ZONE}(?![\d:])`,
].join('|');
/** A single expression, so that the text is searched once for all forms. */
const TIME = new RegExp(`(?<![0-9a-z.:/-])(?=[0-9JFMASONDTW])(?:${TIMES})`, 'gi');

const MEMORY_ADDRESS =
  /(?<![0-9a-z])0x(?![8c][0-9a-f]{7}(?![0-9a-z]))[0-9a-f]{4,16}(?![0-9a-z])|(?<=\b(?:at|address|addr|pc|ptr|pointer)[ =:])0x[0-9a-f]{1,3}(?![0-9a-z])|(?<=\baddress )(?:[0-9a-f]{16}|[0-9a-f]{8})(?![0-9a-z])/gi;
const OBJECT_IDENTITY = /@[0-9a-f]{4,16}(?![0-9a-z_-]|\.[0-9a-z])/gi;

const FILE_LINE = new RegExp(
  String.raw`(?<=\.(?:${SOURCE_EXTENSION}))(?::\d{1,7}(?::\d{1,7})?(?!\d|:\d)|\(\d{1,7}(?:, ?\d{1,7})?\))`,
  'gi',
);
const LINE_COLUMN = /(?<![\d:]):\d{1,7}:\d{1,7}(?!\d|[:.]\d)/g;
const LINE_WORD =
  /(?<![0-9a-z_])(lines?|zeile|ligne|línea|linha|riga|строка)([ :=#]{1,3})\d{1,9}(?:(,? ?(?:col(?:umn)?|spalte|colonne)[ :=]{1,2})\d{1,9})?(?:( \(char )\d{1,9}\))?(?![0-9a-z_])/gi;

const EMAIL = /(?<![\w.+%-])[\w.+%-]{1,64}@(?:[a-z0-9](?:[a-z0-9-]{0,62})\.){1,8}[a-z]{2,24}(?![0-9a-z_])/gi;
const NUMBER = /(?<![0-9a-z_])\d{6,}(?![0-9a-z_])/gi;

/**
 * Before a number that is neither amount nor id: `WinError`, `statusCode`, but not `report` and
 * `zipcode`.
 */
const CODE_WORD = String.raw`(?<![a-z])(?:win|exit|error|status|result|return|http|sql|os)?(?:status|code|error|errno|http|ora|sqlstate|port|version|year)[ :=#([/-]{1,3}`;
/** `db:5432` is a port, `10.0.19045` a version. */
const SHORT_NUMBER = new RegExp(String.raw`(?<![0-9a-z_]|\w:|\d\.)(?<!${CODE_WORD})\d{4,5}(?![0-9a-z_]|\.\d)`, 'gi');

/**
 * @param text the first lines of a message; the caller limits its length
 * @returns the text with placeholders (`<guid>`, `<time>`, `<address>`, `<line>`, `<email>`,
 *   `<ip>`, `<mac>`, `<duration>`, `<size>`, `<share>`, `<id>`, `<number>`, `<value>`)
 */
export function maskText(text: string, options: Partial<MaskOptions> = {}): string {
  const enabled = { ...ALL_MASKS, ...options };
  let masked = '';
  for (const piece of splitDuplicates(text)) masked += piece.final ? piece.text : maskPart(piece.text, enabled);
  return masked;
}

/** Inexpensive pre-check; most messages do not match. */
const HEX_HINT = new RegExp(`${GUID_START_SOURCE}|[0-9a-f]{24}`, 'i');
const DIGIT = /\d/;
const TIME_HINT = /\d[:/.-]\d|\d[ -][a-z]{3}[ -]\d|[a-z]{3} {1,2}\d{1,2} \d|\d{8}T\d|\/[a-z]{3}\//i;
const ADDRESS_HINT = /0x|address/i;
const LINE_HINT = /:\d|\(\d/;
const WORD_HINT = /(?:lin|lign|lín|zeil|rig|строк)\p{L}{1,3}[ :=#]/iu;
const NUMBER_HINT = /\d{4}/;

function maskPart(text: string, options: MaskOptions): string {
  let masked = maskGenerated(text);
  if (masked.includes('@')) {
    if (options.emails) masked = masked.replace(EMAIL, '<email>');
    masked = masked.replace(OBJECT_IDENTITY, '@<address>');
  }
  if (options.mac_addresses) masked = maskMac(masked);
  if (options.ip_addresses) masked = maskIpv6(masked);
  if (HEX_HINT.test(masked)) masked = masked.replace(WHOLE_GUID, '<guid>').replace(HEX_ID, '<guid>');
  if (DIGIT.test(masked)) masked = maskDigits(masked, options);
  return maskQuoted(masked);
}

function maskDigits(text: string, options: MaskOptions): string {
  let masked = TIME_HINT.test(text) ? text.replace(TIME, '<time>') : text;
  if (ADDRESS_HINT.test(masked)) masked = masked.replace(MEMORY_ADDRESS, '<address>');
  if (options.ip_addresses) masked = maskIpv4(masked);
  if (LINE_HINT.test(masked)) masked = masked.replace(FILE_LINE, ':<line>').replace(LINE_COLUMN, ':<line>');
  if (WORD_HINT.test(masked)) masked = masked.replace(LINE_WORD, maskLineWord);
  if (options.process_ids) masked = maskProcessIds(masked);
  if (options.path_numbers) masked = maskPathNumbers(masked);
  if (options.measures) masked = maskMeasures(masked);
  if (options.prefixed_ids) masked = maskPrefixedIds(masked);
  if (options.long_words) masked = maskLongWords(masked);
  if (!options.numbers || !NUMBER_HINT.test(masked)) return masked;
  masked = masked.replace(NUMBER, '<number>');
  return options.short_numbers ? masked.replace(SHORT_NUMBER, '<number>') : masked;
}

const maskGenerated = (text: string): string =>
  maskRuntimeValues(maskPaths(maskDates(maskNamesInText(maskPods(text)))));

function maskLineWord(_: string, word: string, gap: string, column?: string, char?: string): string {
  return `${word}${gap}<line>${column === undefined ? '' : `${column}<line>`}${char === undefined ? '' : `${char}<line>)`}`;
}
