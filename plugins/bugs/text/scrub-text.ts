/**
 * Removes secrets from text (contract 21, intake).
 *
 * It runs on the hot path and on hostile text: every pattern starts at a literal, has no adjacent
 * unbounded parts that match the same character, and runs only after a plain search found its
 * literal. Scrubbing is idempotent. Secrets that are encoded, or divided by visible characters,
 * lines or fields, are not found. When in doubt, the value is removed.
 *
 * Rejected: entropy, because error texts are full of hashes and ids; scrubbing on display, because
 * the secret would be stored.
 */
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toSeenText } from '../../../lib/unseen.js';
import { scrubHooks, scrubKnownTokens, TOKEN_HINT } from './known-tokens.js';

export const SCRUBBED = '[scrubbed]';

const MAX_PASSES = 8;

/**
 * A quoted value, one quoted within embedded JSON, or a bare one. Each alternative ends at the line
 * end at the latest.
 */
const QUOTED = String.raw`\\{1,3}"(?:(?!\\{1,3}")[^\r\n])*|"(?:[^"\\\r\n]|\\[^\r\n])*|'(?:[^'\\\r\n]|\\[^\r\n])*`;
const BARE = String.raw`[^\s"'&;<>]+`;
/** A list, tuple or object as value, up to its first closing bracket or the end of the line. */
const LIST = String.raw`(?!\[scrubbed\])[[({][^\])}\r\n]*(?:${BARE})?`;
const VALUE = String.raw`(${QUOTED}|${LIST}|${BARE})`;
/**
 * Key endings in forms and objects: `user[password]`, `password[0]`, `%5Bpassword%5D`,
 * `"password"`.
 */
const ENDED = String.raw`(?:["'\]]|\[\d{0,4}\]|%5b\d{0,4}%5d|%5d){0,3}`;
/**
 * Separators of key and value: `=`, `: `, `":"`, `' => '`, `\":\"`, `%3D`, PostgreSQL's `)=(`;
 * Python's `b"`.
 */
const ASSIGN = String.raw`(?:\)=\(|\\{0,3}${ENDED}[ \t]{0,16}(?:=>|[:=]|%3[ad])[ \t]{0,16}(?:[bur]{1,2}(?=["']))?)`;
const STRONG = [
  'passw(?:or)?d(?!less)',
  'passphrase',
  'passcode',
  'passwort',
  'pwd',
  '(?<![a-z])pass(?=["\']?\\s?(?:=|["\']\\s?:))',
  // Excludes words such as "secretary".
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
  // Excludes a parser's "Unexpected token: x".
  '(?<!unexpected )token(?=["\']?\\s?=(?!=)|["\']\\s?:)',
  // Outside quotes, only values that look like a token.
  'token(?=\\s?:\\s?(?=[a-z_-]{0,64}\\d)[\\w.+/-]{20})',
];
const NAME =
  '(?:passw(?:or)?d|passphrase|passcode|passwort|pwd|(?<![a-z])pw|secret|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|token)';
const NAMES = `[\\w-]{0,32}${NAME}`;
/** `NoCredentialsError: Unable …`: an error class, followed by its message. */
const NO_CLASS = String.raw`(?![\w-]{0,32}(?:error|exception):\s)`;
const KEYED = new RegExp(String.raw`((?:${STRONG.join('|')})${NO_CLASS}[\w-]{0,32}${ASSIGN})${VALUE}`, 'gi');
/**
 * Precheck: a lower-case text without a match contains no key. A single expression, because every
 * text is searched for it.
 */
const KEY_HINT = /p(?:ass|s?w)|s(?:e(?:cret|ss)|i[dg])|key|c(?:redential|ard|v|ookie)|auth|token/;
const NAME_HINT = new RegExp(`${KEY_HINT.source}|b(?:earer|asic)`);

/** `<password>x</password>`, `--password x`: brackets or dashes delimit the value. */
const ELEMENT = new RegExp(String.raw`(<(?:\w{1,32}:)?(?:${NAMES})>)([^<>\r\n]+)(?=</)`, 'gi');
const OPTION = new RegExp(String.raw`((?<![\w-])--(?:${NAMES})[ \t]{1,4})(?!-)(${QUOTED}|${BARE})`, 'gi');
/**
 * `<add key="DbPassword" value="x"/>`, `{"name":"db.password","value":"x"}`: the key is itself a
 * value.
 */
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

/** Sign-in code in the query of a URL, which grants access. */
const CODE =
  /((?:(?<!\S)(?=\S{1,2048}&)|[?&]|%3f|%26|&amp;|\\u0026)(?:code|otp)(?:=|%3d))((?:[^\s&#"'<>%\\]|%(?!26|23))+)/gi;
/** Error or locale codes: `404`, `ENOENT`, `de`, `not-found`. */
const PLAIN_CODE = /^(?:\d{1,5}|[A-Z][A-Z_]{0,40}|[a-z]{1,12}(?:[-_][a-z]{1,12}){0,4}|\[scrubbed\])$/;

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** Possible card number: 13 to 19 digits, plain or in the usual groups. */
const CANDIDATE = /(?<![\w.])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})(?!\w)/g;
const CARD_HINT = /\d\d\d\d[\d -]/;
const CARD = /^(?:4\d{12}(?:\d{3}){0,2}|5[0-8]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$/;
/**
 * Replacement of a card number. It consists of digits, because grouping masks long numbers: one
 * number in ten looks like a card number by chance, and a word would move its report to another
 * group.
 */
export const CARD_MASK = '0000000000000000';

/** Values that only describe a secret. */
const TELLING =
  /^["'\\]*(?:yes|no|true|false|null|none|nil|undefined|empty|missing|required|invalid|expired|wrong|\[scrubbed\]|\*+)["'\\)\]},.:!]*$/i;

const replaceKeyed = (whole: string, key: string, value: string): string =>
  TELLING.test(value) ? whole : key + opening(value) + SCRUBBED + closing(value);

const opening = (value: string): string => /^(?:\\{1,3}"|["'])/.exec(value)?.[0] ?? '';
/**
 * Returns the trailing brackets and punctuation after a bare value: `(password=x)`, `{password=x}`.
 */
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
    // Without an end marker the text was truncated within the key.
    from = end === null ? text.length : KEY_END.lastIndex;
    KEY_BEGIN.lastIndex = from;
  }
  return kept + text.slice(from);
}

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
 * Masks card numbers. A false candidate may overlap a card number from its second group on, so only
 * its first group is skipped.
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
  // A user name alone is not secret, a long one is a token.
  if (colon < 0) return info.length >= 20 ? `://${SCRUBBED}@` : whole;
  return `://${info.slice(0, colon)}:${SCRUBBED}@`;
};

/** Precheck: a short text without a match contains no secret, as most names, versions and paths. */
const SUSPECT = /[=:_ <]|eyJ|%3|\d{13}|\d-\d/;
const SHORT = 128;

/**
 * Cache of texts without secrets: message and stack trace of an error recur with every occurrence.
 */
const clean = new BoundedMap<true>({ most: 1_000 });
const MAX_CACHED_LENGTH = 16_384;

const isSuspect = (text: string): boolean =>
  text.length > SHORT || SUSPECT.test(text) || TOKEN_HINT.test(text) || toSeenText(text) !== text;

/** Removes secrets; returns the same text when there are none. */
export function scrubText(text: string): string {
  if (text.length < 8 || !isSuspect(text) || clean.get(text) === true) return text;
  const scrubbed = scrubUntilWhole(text);
  // Copied, because the text may be a slice that keeps a much larger one in memory.
  if (scrubbed === text && text.length <= MAX_CACHED_LENGTH) clean.set(Buffer.from(text).toString(), true);
  return scrubbed;
}

/** Scrubs a text. If invisible characters hide a secret from the patterns, they are removed. */
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
  // A removal may reveal an adjacent secret, so passes repeat until nothing is found.
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

export function containsCredential(text: string): boolean {
  const seen = toSeenText(text);
  return scrubCredentials(text) !== text || (seen !== text && scrubCredentials(seen) !== seen);
}
