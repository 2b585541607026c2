/** The title of an error group: `<ShortClass>: <first line of the message>` (contract 21, intake). Pure. */
import { cutText } from './limits/cut.js';

const LINE = 160;
/** What contract 20 allows a title to be. */
const TITLE = 200;

const FIRST_LINE = /\S[^\r\n\u2028\u2029]*/u;
const firstLine = (text: string): string => (FIRST_LINE.exec(text)?.[0] ?? '').trimEnd();
/** Generic arguments (.NET, Java, C++) and the address of PHP's anonymous classes: all that may hold separators of its own. */
const TAIL = /[`<[(\0].*$|@anonymous.*$/su;
/** `$` (Java) and `+` (.NET) part nested classes, unless a number follows: `Cart$1` is the first nameless class in Cart. */
const SEPARATOR = /::|[.\\/:]|[$+](?=[\p{L}_])/u;
const NAME = /[\p{L}_]/u;
/** What no name holds. Prose stays whole: cut at its colon, `password: x` would lose the word that gives the secret away. */
const PROSE = /["'=]|\S\s+\S/u;

/**
 * The last segment of a class name: `Connection` of `requests.exceptions.Connection`, `App\Db\Connection`,
 * `Net::Connection`, `errors/Connection`, `com.acme.Net$Connection`, `Acme.Net+Connection`.
 * Segments without letters are passed over; a name that has none, or only generic arguments, is taken whole.
 */
export function shortClass(name: string): string {
  const whole = firstLine(name);
  const plain = whole.replace(TAIL, '').trim();
  if (PROSE.test(plain)) return plain;
  const last = plain.split(SEPARATOR).findLast((segment) => NAME.test(segment));
  return last?.replace(/^[*&\s]+/u, '').trim() || plain || whole;
}

/** @param exceptionClass may be null; then the title is the message's first line, at most 160 characters of it. */
export function titleOf(exceptionClass: string | null, message: string): string {
  const line = cutText(firstLine(message), LINE);
  const short = exceptionClass === null ? '' : shortClass(exceptionClass);
  return cutText([short, line].filter((part) => part !== '').join(': '), TITLE);
}
