/** The title of an error group: `<ShortClass>: <first line of the message>` (contract 21, intake). Pure. */
import { cutText } from './cut-text.js';
import { toReadableClass } from './generated-names.js';

const LINE = 160;
/** Characters of a title (contract 20). */
const TITLE = 200;

const FIRST_LINE = /\S[^\r\n\u2028\u2029]*/u;
const firstLine = (text: string): string => (FIRST_LINE.exec(text)?.[0] ?? '').trimEnd();
/** Generic arguments (.NET, Java, C++) and the address of PHP's anonymous classes: these may hold separators too. */
const TAIL = /[`<[(\0].*$|@anonymous.*$/su;
/** Ruby's text of a class without a name. */
const UNNAMED = /^#<(?:Class|Module|Struct)/;
/**
 * `$` (Java) and `+` (.NET) separate nested classes, unless a number follows: `Cart$1` is an anonymous class in Cart.
 */
const SEPARATOR = /::|[.\\/:]|[$+](?=[\p{L}_])/u;
/** The values of a row, which PostgreSQL shows whole: personal data. */
const ROW =
  /\b(Failing row contains|Fehlgeschlagene Zeile enthält|La ligne en échec contient|La fila que falla contiene) \(.*$/u;
/** What SQL Server cut off. */
const TRUNCATED = /\b(Truncated value:) '.*$/u;
const NAME = /[\p{L}_]/u;
/** Signs of prose. Prose stays whole: cut at the colon, `password: x` would lose the word that marks the secret. */
const PROSE = /["'=]|\S\s+\S/u;

/**
 * The last segment of a class name: `Connection` of `requests.exceptions.Connection`, `App\Db\Connection`,
 * `Net::Connection`, `errors/Connection`, `com.acme.Net$Connection`, `Acme.Net+Connection`.
 * Segments without letters are skipped. A name without a usable segment, or of generic arguments only, stays whole.
 */
export function getShortClassName(name: string): string {
  const whole = firstLine(toReadableClass(name));
  if (UNNAMED.test(whole)) return whole;
  const plain = whole.replace(TAIL, '').trim();
  if (PROSE.test(plain)) return plain;
  const last = plain.split(SEPARATOR).findLast((segment) => NAME.test(segment));
  return last?.replace(/^[*&\s]+/u, '').trim() || plain || whole;
}

/** @param exceptionClass null: the title is the message's first line alone. 160 characters of that line count. */
export function titleOf(exceptionClass: string | null, message: string): string {
  const line = cutText(firstLine(message).replace(ROW, '$1 (…)').replace(TRUNCATED, '$1 …'), LINE);
  const short = exceptionClass === null ? '' : getShortClassName(exceptionClass);
  return cutText([short, line].filter((part) => part !== '').join(': '), TITLE);
}

/**
 * A title for a line of a list: what happened first, its class apart.
 * @param exceptionClass as it was reported, whole
 * @returns `kind` null: there is no class, or the title is the class alone
 */
export function toHeadline(title: string, exceptionClass: string | null): { message: string; kind: string | null } {
  if (exceptionClass === null || exceptionClass === '') return { message: title, kind: null };
  const short = getShortClassName(exceptionClass);
  if (title === short || title === exceptionClass) return { message: title, kind: null };
  const message = title.startsWith(`${short}: `) ? title.slice(short.length + 2).trim() : '';
  return { message: message === '' ? title : message, kind: exceptionClass };
}
