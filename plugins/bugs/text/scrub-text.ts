/**
 * Takes secrets out of text (contract 21, intake): authorization headers and credentials, password-like keys in query
 * strings and prose, private keys, card numbers, well-known tokens of others and this service's own, user information
 * in URLs. Pure.
 *
 * It runs on the intake's hot path and on hostile text, so every pattern starts at a literal, holds no two neighbours
 * that match the same character without a bound, and runs only where a plain search found its literal. Scrubbing twice
 * is scrubbing once. Characters that nobody sees hide nothing; a secret that is divided by what is seen, by the end of
 * a line or over two fields, or encoded, is not found. When in doubt a value goes: a message that lost a word is still
 * a message.
 *
 * Rejected: entropy (hashes and ids are what error texts are made of), and scrubbing when shown (then it is on disk).
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toSeenText } from '../../../lib/unseen.js';
import { scrubHooks, scrubKnownTokens, TOKEN_HINT } from './known-tokens.js';

export const SCRUBBED = '[scrubbed]';

const MAX_PASSES = 8;

/**
 * A value in quotes, in quotes of an embedded JSON text, or bare. Each alternative runs to the end of its line at most.
 */
const QUOTED = String.raw`\\{1,3}"(?:(?!\\{1,3}")[^\r\n])*|"(?:[^"\\\r\n]|\\[^\r\n])*|'(?:[^'\\\r\n]|\\[^\r\n])*`;
const BARE = String.raw`[^\s"'&;<>]+`;
/** A list, a tuple or an object as value, to its first closing bracket or to the end of its line. */
const LIST = String.raw`(?!\[scrubbed\])[[({][^\])}\r\n]*(?:${BARE})?`;
const VALUE = String.raw`(${QUOTED}|${LIST}|${BARE})`;
/** How a key ends in a form or an object: `user[password]`, `password[0]`, `%5Bpassword%5D`, `"password"`. */
const ENDED = String.raw`(?:["'\]]|\[\d{0,4}\]|%5b\d{0,4}%5d|%5d){0,3}`;
/** Separators of a key and its value: `=`, `: `, `":"`, `' => '`, `\":\"`, `%3D`, PostgreSQL's `)=(`; Python's `b"`. */
const ASSIGN = String.raw`(?:\)=\(|\\{0,3}${ENDED}[ \t]{0,16}(?:=>|[:=]|%3[ad])[ \t]{0,16}(?:[bur]{1,2}(?=["']))?)`;
const STRONG = [
  'passw(?:or)?d(?!less)',
  'passphrase',
  'passcode',
  'passwort',
  'pwd',
  '(?<![a-z])pass(?=["\']?\\s?(?:=|["\']\\s?:))',
  // A secretary is none.
  'secret(?!ar(?:y|i)|ions?|e[sd]?(?![a-z])|ive|ly|ory)',
  '(?<![a-z])(?:ps?w|pswd)(?=["\']?\\s?[=:])',
  'api[-_. ]?key',
  'access[-_. ]?key',
  'private[-_. ]?key',
  'account[-_. ]?key',
  'access[-_. ]?signature',
  'encryption[-_. ]?key',
  'credentials?',
  'sess(?:ion)?[-_. ]?id',
  'card[-_. ]?number',
  '(?<![a-z])(?:cvv2?|cvc2?|sid|sig|signature|auth)(?=["\']?\\s?=|["\']\\s?:)',
  '(?<![a-z])cookie2?(?=\\\\{0,3}["\']\\s?(?::|=>))',
  '(?:access|refresh|id|auth|api|session|csrf|xsrf|bearer|security|bot|service|deploy|device|push)[-_. ]?token',
  // A parser's "Unexpected token: x" is no secret.
  '(?<!unexpected )token(?=["\']?\\s?=(?!=)|["\']\\s?:)',
  // Outside quotes only a value that looks like a token counts.
  'token(?=\\s?:\\s?(?=[a-z_-]{0,64}\\d)[\\w.+/-]{20})',
];
/** Keys as the names of elements, options and attributes end. */
const NAME =
  '(?:passw(?:or)?d|passphrase|passcode|passwort|pwd|(?<![a-z])pw|secret|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|token)';
const NAMES = `[\\w-]{0,32}${NAME}`;
/** `NoCredentialsError: Unable …`: the name of an error's class, and what follows is its message. */
const NO_CLASS = String.raw`(?![\w-]{0,32}(?:error|exception):\s)`;
/** `$1` the key with what follows it up to the value, `$2` the value. */
const KEYED = new RegExp(String.raw`((?:${STRONG.join('|')})${NO_CLASS}[\w-]{0,32}${ASSIGN})${VALUE}`, 'gi');
/** A lower-case text without any of these holds no key; one expression, because every text is searched for it. */
const KEY_HINT = /p(?:ass|s?w)|s(?:e(?:cret|ss)|i[dg])|key|c(?:redential|ard|v|ookie)|auth|token/;
/** A text without any of these holds no named credential at all. */
const NAME_HINT = new RegExp(`${KEY_HINT.source}|b(?:earer|asic)`);

/** `<password>x</password>`, `--password x`: the key's own brackets or dashes say where the value is. */
const ELEMENT = new RegExp(String.raw`(<(?:\w{1,32}:)?(?:${NAMES})>)([^<>\r\n]+)(?=</)`, 'gi');
const OPTION = new RegExp(String.raw`((?<![\w-])--(?:${NAMES})[ \t]{1,4})(?!-)(${QUOTED}|${BARE})`, 'gi');
/** `<add key="DbPassword" value="x"/>`, `{"name":"db.password","value":"x"}`: the key is a value itself. */
const PAIR = new RegExp(
  String.raw`((?:key|name)[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{1,4}[\w.:-]{0,64}${NAME}[\w-]{0,32}[\\"']{1,4}[ \t]{0,4},?[ \t]{0,4}[\\"']{0,4}value[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4})${VALUE}`,
  'gi',
);

/** `Authorization: Bearer …`; schemes with parameters take the rest of the line. */
const HEADER = new RegExp(
  String.raw`((?:authorization|x-auth|x-sentry-auth)${ASSIGN})(${QUOTED}|(?:digest|hawk|oauth|signature|sentry|aws4[\w-]{0,30})[ \t][^\r\n]*|${LIST}|(?:[a-z][\w-]{0,30}[ \t]{1,4})?${BARE})`,
  'gi',
);
const COOKIE = /((?:set-)?cookie[ \t]{0,4}:[ \t]{0,4})([^\s=;]{1,256}=[^\r\n]*)/gi;
const CREDENTIAL = /\b((?:bearer|basic)[ \t]{1,4})([\w.~+/-]{8,}={0,2})/gi;
const WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+)$/;

const OWN_TOKEN = /(?:svc_(?:live|sub|setup|in)|wd_live)_[0-9A-Za-z]{16,}/g;
const JWT = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g;
const USER_INFO = /:\/\/([^\s/?#"'<>]{1,512})@/g;

/** The code of a sign-in in the query of an address, by which whoever reads it may sign in. */
const CODE =
  /((?:(?<!\S)(?=\S{1,2048}&)|[?&]|%3f|%26|&amp;|\\u0026)(?:code|otp)(?:=|%3d))((?:[^\s&#"'<>%\\]|%(?!26|23))+)/gi;
/** A code that says what went wrong, or where: `404`, `ENOENT`, `de`, `not-found`. */
const PLAIN_CODE = /^(?:\d{1,5}|[A-Z][A-Z_]{0,40}|[a-z]{1,12}(?:[-_][a-z]{1,12}){0,4}|\[scrubbed\])$/;

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** A possible card number: 13 to 19 digits alone, or in the groups that people write. */
const CANDIDATE = /(?<![\w.])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})(?!\w)/g;
/** Every candidate holds this, and most texts do not. */
const CARD_HINT = /\d\d\d\d[\d -]/;
/** Beginnings and lengths that card numbers have. */
const CARD = /^(?:4\d{12}(?:\d{3}){0,2}|5[0-8]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$/;
/**
 * The replacement of a card number. It has digits, because grouping masks long numbers, and one number in ten only
 * looks like a card's: with a word in its place such a report would leave its group.
 */
export const CARD_MASK = '0000000000000000';

/** Values that only speak about a secret. */
const TELLING =
  /^["'\\]*(?:yes|no|true|false|null|none|nil|undefined|empty|missing|required|invalid|expired|wrong|\[scrubbed\]|\*+)["'\\)\]},.:!]*$/i;

const replaceKeyed = (whole: string, key: string, value: string): string =>
  TELLING.test(value) ? whole : key + opening(value) + SCRUBBED + closing(value);

/** The quote, with its backslashes, that a value begins with. */
const opening = (value: string): string => /^(?:\\{1,3}"|["'])/.exec(value)?.[0] ?? '';
/** The end of a bare value, without brackets that close its surroundings: `(password=x)`, `{password=x}`. */
function closing(value: string): string {
  if (opening(value) !== '') return '';
  const brackets = /[)\]},.]*$/.exec(value.slice(-4))?.[0] ?? '';
  return LISTED.test(value) ? brackets.slice(1) : brackets;
}
const LISTED = /^[[({]/;

function scrubKeys(text: string): string {
  let kept = '';
  let from = 0;
  KEY_BEGIN.lastIndex = 0;
  for (let begin = KEY_BEGIN.exec(text); begin !== null; begin = KEY_BEGIN.exec(text)) {
    KEY_END.lastIndex = KEY_BEGIN.lastIndex;
    const end = KEY_END.exec(text);
    kept += text.slice(from, begin.index) + SCRUBBED;
    // Without an end the text was cut within the key.
    from = end === null ? text.length : KEY_END.lastIndex;
    KEY_BEGIN.lastIndex = from;
  }
  return kept + text.slice(from);
}

/** Whether digits have the beginning and length of a card, and Luhn's check digit. @param digits nothing else */
export function isCard(digits: string): boolean {
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/**
 * Masks card numbers. A false candidate may hide a card number that begins with its second group, so only its first
 * group is skipped.
 */
function scrubCards(text: string): string {
  if (!CARD_HINT.test(text)) return text;
  let kept = '';
  let from = 0;
  CANDIDATE.lastIndex = 0;
  for (let found = CANDIDATE.exec(text); found !== null; found = CANDIDATE.exec(text)) {
    const [digits] = found;
    if (isCard(digits.replace(/[ -]/g, ''))) {
      kept += text.slice(from, found.index) + CARD_MASK;
      from = CANDIDATE.lastIndex;
    } else if (found[1] !== undefined || found[2] !== undefined) CANDIDATE.lastIndex = found.index + 4;
  }
  return from === 0 ? text : kept + text.slice(from);
}

const scrubUserInfo = (whole: string, info: string): string => {
  const colon = info.indexOf(':');
  // A user name alone is no secret, a long one is a token.
  if (colon < 0) return info.length >= 20 ? `://${SCRUBBED}@` : whole;
  return `://${info.slice(0, colon)}:${SCRUBBED}@`;
};

/** A short text without any of these holds no secret; names, versions and paths mostly have none. */
const SUSPECT = /[=:_ <]|eyJ|%3|\d{13}|\d-\d/;
const SHORT = 128;

/** Texts that hold no secret: an error's message and stack trace come again with every occurrence. */
const clean = new BoundedMap<true>({ most: 1_000 });
const MAX_CACHED_LENGTH = 16_384;

const isSuspect = (text: string): boolean =>
  text.length > SHORT || SUSPECT.test(text) || TOKEN_HINT.test(text) || toSeenText(text) !== text;

/** The text without secrets; the same text when there are none. */
export function scrubText(text: string): string {
  if (text.length < 8 || !isSuspect(text) || clean.get(text) === true) return text;
  const scrubbed = scrubUntilWhole(text);
  // A copy: the text may be a piece of a much larger one, which it would keep in memory.
  if (scrubbed === text && text.length <= MAX_CACHED_LENGTH) clean.set(Buffer.from(text).toString(), true);
  return scrubbed;
}

/**
 * Scrubs a text. Unseen characters divide a secret for a pattern and not for its reader: then the text is kept without
 * them.
 */
function scrubUntilWhole(text: string): string {
  const whole = scrubUntilSame(text);
  const seen = toSeenText(text);
  if (seen === text) return whole;
  const scrubbed = scrubUntilSame(seen);
  return scrubbed === toSeenText(whole) ? whole : scrubbed;
}

function scrubUntilSame(text: string): string {
  let before = text;
  let after = scrubOnce(text);
  // A removal may uncover a secret beside it, so only a pass that finds nothing is the last.
  for (let pass = 1; after !== before && pass < MAX_PASSES; pass++) {
    before = after;
    after = scrubOnce(after);
  }
  return after;
}

const scrubOnce = (text: string): string => scrubCards(scrubCredentials(text));

function scrubCredentials(text: string): string {
  let out = text;
  if (out.includes('PRIVATE KEY')) out = scrubKeys(out);
  if (out.includes('svc_') || out.includes('wd_live_')) out = out.replace(OWN_TOKEN, SCRUBBED);
  if (out.includes('eyJ')) out = out.replace(JWT, SCRUBBED);
  out = scrubKnownTokens(out, SCRUBBED);
  out = scrubHooks(out, SCRUBBED);
  if (out.includes('://') && out.includes('@')) out = out.replace(USER_INFO, scrubUserInfo);
  const lower = out.toLowerCase();
  if (lower.includes('code=') || lower.includes('otp=') || lower.includes('code%3d'))
    out = out.replace(CODE, (whole, key: string, value: string) => (PLAIN_CODE.test(value) ? whole : key + SCRUBBED));
  return NAME_HINT.test(lower) ? scrubNamed(out, lower) : out;
}

/** Scrubs credentials that follow their name. @param lower the text in lower case */
function scrubNamed(text: string, lower: string): string {
  let out = text;
  const keyed = KEY_HINT.test(lower);
  if (out.includes('=') || out.includes(':') || out.includes('%3')) {
    if (lower.includes('auth')) out = out.replace(HEADER, replaceKeyed);
    if (lower.includes('cookie')) out = out.replace(COOKIE, (_, name: string) => name + SCRUBBED);
    if (keyed) out = out.replace(KEYED, replaceKeyed);
    if (keyed && lower.includes('value')) out = out.replace(PAIR, replaceKeyed);
  }
  const bracketed = out.includes('</');
  if (keyed && (bracketed || out.includes('--'))) {
    if (bracketed) out = out.replace(ELEMENT, replaceKeyed);
    out = out.replace(OPTION, replaceKeyed);
  }
  if (lower.includes('bearer') || lower.includes('basic')) {
    out = out.replace(CREDENTIAL, (whole, scheme: string, value: string) =>
      WORD.test(value) ? whole : scheme + SCRUBBED,
    );
  }
  return out;
}

/** Whether the text holds a secret, except for long numbers. */
export function containsCredential(text: string): boolean {
  const seen = toSeenText(text);
  return scrubCredentials(text) !== text || (seen !== text && scrubCredentials(seen) !== seen);
}
