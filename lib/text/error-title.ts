/** Titles of error groups: `<ShortClass>: <first line of the message>` (contract 21, intake). */
import { cutText } from './cut-text.js';
import { toReadableClass } from './generated-names.js';

const LINE = 160;
/** Contract 20. */
const TITLE = 200;

const FIRST_LINE = /\S[^\r\n\u2028\u2029]*/u;
const firstLine = (text: string): string => (FIRST_LINE.exec(text)?.[0] ?? '').trimEnd();
/**
 * Generic arguments (.NET, Java, C++) and addresses of PHP's anonymous classes, which may contain
 * separators.
 */
const TAIL = /[`<[(\0].*$|@anonymous.*$/su;
/** Ruby's unnamed classes. */
const UNNAMED = /^#<(?:Class|Module|Struct)/;
/**
 * `$` (Java) and `+` (.NET) separate nested classes unless a number follows: `Cart$1` is anonymous.
 */
const SEPARATOR = /::|[.\\/:]|[$+](?=[\p{L}_])/u;
/** Row values from PostgreSQL: personal data. */
const ROW =
  /\b(Failing row contains|Fehlgeschlagene Zeile enthält|La ligne en échec contient|La fila que falla contiene) \(.*$/u;
/** Truncated values from SQL Server. */
const TRUNCATED = /\b(Truncated value:) '.*$/u;
const NAME = /[\p{L}_]/u;
/**
 * Signs of prose, which stays whole: cutting `password: x` at the colon would lose the word that
 * marks the secret.
 */
const PROSE = /["'=]|\S\s+\S/u;

/**
 * Returns the last segment with letters of a class name: `Connection` for
 * `requests.exceptions.Connection`, `App\Db\Connection`, `Net::Connection`, `errors/Connection`,
 * `com.acme.Net$Connection`, `Acme.Net+Connection`; otherwise the whole name.
 */
export function getShortClassName(name: string): string {
  const whole = firstLine(toReadableClass(name));
  if (UNNAMED.test(whole)) return whole;
  const plain = whole.replace(TAIL, '').trim();
  if (PROSE.test(plain)) return plain;
  const last = plain.split(SEPARATOR).findLast((segment) => NAME.test(segment));
  return last?.replace(/^[*&\s]+/u, '').trim() || plain || whole;
}

/**
 * Builds the title from class and the first 160 characters of the message's first line.
 * @param exceptionClass null: the line alone
 */
export function titleOf(exceptionClass: string | null, message: string): string {
  const line = cutText(firstLine(message).replace(ROW, '$1 (…)').replace(TRUNCATED, '$1 …'), LINE);
  const short = exceptionClass === null ? '' : getShortClassName(exceptionClass);
  return cutText([short, line].filter((part) => part !== '').join(': '), TITLE);
}

/**
 * Splits a title for lists: message first, class separately.
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
