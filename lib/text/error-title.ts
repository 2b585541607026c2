/** `<ShortClass>: <first line of the message>` (contract 21, intake). */
import { cutText } from './cut-text.js';
import { toReadableClass } from './generated-names.js';

const MAX_LINE_LENGTH = 160;
/** Contract 20. */
const MAX_TITLE_LENGTH = 200;

const FIRST_LINE_PATTERN = /\S[^\r\n\u2028\u2029]*/u;
const getFirstLine = (text: string): string => (FIRST_LINE_PATTERN.exec(text)?.[0] ?? '').trimEnd();
/** Generic arguments and addresses of PHP's anonymous classes. */
const TAIL_PATTERN = /[`<[(\0].*$|@anonymous.*$/su;
/** Ruby's unnamed classes. */
const UNNAMED_CLASS_PATTERN = /^#<(?:Class|Module|Struct)/;
/**
 * `$` (Java) and `+` (.NET) separate nested classes unless a number follows: `Cart$1` is anonymous.
 */
const SEPARATOR_PATTERN = /::|[.\\/:]|[$+](?=[\p{L}_])/u;
/** Row values from PostgreSQL: personal data. */
const ROW_VALUES_PATTERN =
  /\b(Failing row contains|Fehlgeschlagene Zeile enthält|La ligne en échec contient|La fila que falla contiene) \(.*$/u;
const TRUNCATED_VALUE_PATTERN = /\b(Truncated value:) '.*$/u;
const NAME_PATTERN = /[\p{L}_]/u;
/** Cutting prose such as `password: x` at the colon would lose the word that marks the secret. */
const PROSE_PATTERN = /["'=]|\S\s+\S/u;

/**
 * Returns the last segment with letters of a class name: `Connection` for
 * `requests.exceptions.Connection`; otherwise the whole name.
 */
export function getShortClassName(name: string): string {
  const whole = getFirstLine(toReadableClass(name));
  if (UNNAMED_CLASS_PATTERN.test(whole)) return whole;
  const plain = whole.replace(TAIL_PATTERN, '').trim();
  if (PROSE_PATTERN.test(plain)) return plain;
  const last = plain.split(SEPARATOR_PATTERN).findLast((segment) => NAME_PATTERN.test(segment));
  return last?.replace(/^[*&\s]+/u, '').trim() || plain || whole;
}

/** Builds the title from class and the first 160 characters of the message's first line. */
export function toErrorTitle(exceptionClass: string | null, message: string): string {
  const line = cutText(
    getFirstLine(message).replace(ROW_VALUES_PATTERN, '$1 (…)').replace(TRUNCATED_VALUE_PATTERN, '$1 …'),
    MAX_LINE_LENGTH,
  );
  const short = exceptionClass === null ? '' : getShortClassName(exceptionClass);
  return cutText([short, line].filter((part) => part !== '').join(': '), MAX_TITLE_LENGTH);
}

/**
 * Splits a title for lists.
 * @param exceptionClass full reported name
 * @returns `kind` null: no class, or the title is the class
 */
export function toHeadline(title: string, exceptionClass: string | null): { message: string; kind: string | null } {
  if (exceptionClass === null || exceptionClass === '') return { message: title, kind: null };
  const short = getShortClassName(exceptionClass);
  if (title === short || title === exceptionClass) return { message: title, kind: null };
  const message = title.startsWith(`${short}: `) ? title.slice(short.length + 2).trim() : '';
  return { message: message === '' ? title : message, kind: exceptionClass };
}
