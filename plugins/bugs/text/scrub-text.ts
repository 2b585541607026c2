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
import { toVisibleText } from '../../../lib/text/invisible-characters.js';
import { scrubWebhookUrls, scrubKnownTokens, TOKEN_HINT } from './known-tokens.js';

export const SCRUBBED_MARK = '[scrubbed]';

const MAX_PASSES = 8;

/** Each alternative ends at the line end at the latest. */
const QUOTED_VALUE = String.raw`\\{1,3}"(?:(?!\\{1,3}")[^\r\n])*|"(?:[^"\\\r\n]|\\[^\r\n])*|'(?:[^'\\\r\n]|\\[^\r\n])*`;
const BARE_VALUE = String.raw`[^\s"'&;<>]+`;
/** A list, tuple or object as value, up to its first closing bracket or the end of the line. */
const LIST_VALUE = String.raw`(?!\[scrubbed\])[[({][^\])}\r\n]*(?:${BARE_VALUE})?`;
const VALUE_SOURCE = String.raw`(${QUOTED_VALUE}|${LIST_VALUE}|${BARE_VALUE})`;
/** In forms and objects: `user[password]`, `password[0]`, `%5Bpassword%5D`, `"password"`. */
const KEY_ENDING = String.raw`(?:["'\]]|\[\d{0,4}\]|%5b\d{0,4}%5d|%5d){0,3}`;
/** `=`, `: `, `":"`, `' => '`, `\":\"`, `%3D`, PostgreSQL's `)=(`; Python's `b"`. */
const ASSIGNMENT = String.raw`(?:\)=\(|\\{0,3}${KEY_ENDING}[ \t]{0,16}(?:=>|[:=]|%3[ad])[ \t]{0,16}(?:[bur]{1,2}(?=["']))?)`;
const STRONG_KEYS = [
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
const SECRET_NAME =
  '(?:passw(?:or)?d|passphrase|passcode|passwort|pwd|(?<![a-z])pw|secret|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|token)';
const SECRET_NAMES = `[\\w-]{0,32}${SECRET_NAME}`;
/** An error class with its message: `NoCredentialsError: Unable …`. */
const NOT_ERROR_CLASS = String.raw`(?![\w-]{0,32}(?:error|exception):\s)`;
const KEYED_SECRET_PATTERN = new RegExp(
  String.raw`((?:${STRONG_KEYS.join('|')})${NOT_ERROR_CLASS}[\w-]{0,32}${ASSIGNMENT})${VALUE_SOURCE}`,
  'gi',
);
/** Precheck of every text: a lower-case text without a match contains no key. */
const KEY_HINT = /p(?:ass|s?w)|s(?:e(?:cret|ss)|i[dg])|key|c(?:redential|ard|v|ookie)|auth|token/;
const NAME_HINT = new RegExp(`${KEY_HINT.source}|b(?:earer|asic)`);

/** `<password>x</password>`, `--password x`: brackets or dashes delimit the value. */
const ELEMENT_PATTERN = new RegExp(String.raw`(<(?:\w{1,32}:)?(?:${SECRET_NAMES})>)([^<>\r\n]+)(?=</)`, 'gi');
const OPTION_PATTERN = new RegExp(
  String.raw`((?<![\w-])--(?:${SECRET_NAMES})[ \t]{1,4})(?!-)(${QUOTED_VALUE}|${BARE_VALUE})`,
  'gi',
);
/**
 * `<add key="DbPassword" value="x"/>`, `{"name":"db.password","value":"x"}`: the key is itself a
 * value.
 */
const PAIR_PATTERN = new RegExp(
  String.raw`((?:key|name)[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4}[\\"']{1,4}[\w.:-]{0,64}${SECRET_NAME}[\w-]{0,32}[\\"']{1,4}[ \t]{0,4},?[ \t]{0,4}[\\"']{0,4}value[\\"']{0,4}[ \t]{0,4}[:=][ \t]{0,4})${VALUE_SOURCE}`,
  'gi',
);

/** `Authorization: Bearer …`; schemes with parameters take the rest of the line. */
const HEADER_PATTERN = new RegExp(
  String.raw`((?:authorization|x-auth|x-sentry-auth)${ASSIGNMENT})(${QUOTED_VALUE}|(?:digest|hawk|oauth|signature|sentry|aws4[\w-]{0,30})[ \t][^\r\n]*|${LIST_VALUE}|(?:[a-z][\w-]{0,30}[ \t]{1,4})?${BARE_VALUE})`,
  'gi',
);
const COOKIE_PATTERN = /((?:set-)?cookie[ \t]{0,4}:[ \t]{0,4})([^\s=;]{1,256}=[^\r\n]*)/gi;
const CREDENTIAL_PATTERN = /\b((?:bearer|basic)[ \t]{1,4})([\w.~+/-]{8,}={0,2})/gi;
const WORD_PATTERN = /^(?:[A-Z]?[a-z]+|[A-Z]+)$/;

const OWN_TOKEN_PATTERN = /(?:svc_(?:live|sub|setup|in)|wd_live)_[0-9A-Za-z]{16,}/g;
const JWT_PATTERN = /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g;
const USER_INFO_PATTERN = /:\/\/([^\s/?#"'<>]{1,512})@/g;

/** Grants access from a URL's query. */
const SIGN_IN_CODE_PATTERN =
  /((?:(?<!\S)(?=\S{1,2048}&)|[?&]|%3f|%26|&amp;|\\u0026)(?:code|otp)(?:=|%3d))((?:[^\s&#"'<>%\\]|%(?!26|23))+)/gi;
/** Error or locale codes: `404`, `ENOENT`, `de`, `not-found`. */
const PLAIN_CODE_PATTERN = /^(?:\d{1,5}|[A-Z][A-Z_]{0,40}|[a-z]{1,12}(?:[-_][a-z]{1,12}){0,4}|\[scrubbed\])$/;

const PRIVATE_KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const PRIVATE_KEY_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;

/** 13 to 19 digits, plain or in the usual groups. */
const CARD_CANDIDATE_PATTERN =
  /(?<![\w.])(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{4,5})(?!\w)/g;
const CARD_HINT = /\d\d\d\d[\d -]/;
const CARD_PATTERN =
  /^(?:4\d{12}(?:\d{3}){0,2}|5[0-8]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[068]\d{12}|35\d{14}|6\d{15,18})$/;
/**
 * Digits, because grouping masks long numbers: one in ten looks like a card number by chance, and a
 * word would move its report to another group.
 */
export const CARD_MASK = '0000000000000000';

/** They only describe a secret. */
const DESCRIPTIVE_VALUE_PATTERN =
  /^["'\\]*(?:yes|no|true|false|null|none|nil|undefined|empty|missing|required|invalid|expired|wrong|\[scrubbed\]|\*+)["'\\)\]},.:!]*$/i;

const replaceKeyed = (whole: string, key: string, value: string): string =>
  DESCRIPTIVE_VALUE_PATTERN.test(value)
    ? whole
    : key + getOpeningQuote(value) + SCRUBBED_MARK + getClosingBrackets(value);

const getOpeningQuote = (value: string): string => /^(?:\\{1,3}"|["'])/.exec(value)?.[0] ?? '';
/** `(password=x)`, `{password=x}`. */
function getClosingBrackets(value: string): string {
  if (getOpeningQuote(value) !== '') return '';
  const brackets = /[)\]},.]*$/.exec(value.slice(-4))?.[0] ?? '';
  return LIST_START_PATTERN.test(value) ? brackets.slice(1) : brackets;
}
const LIST_START_PATTERN = /^[[({]/;

function scrubPrivateKeys(text: string): string {
  let scrubbed = '';
  let from = 0;
  PRIVATE_KEY_BEGIN.lastIndex = 0;
  for (let begin = PRIVATE_KEY_BEGIN.exec(text); begin !== null; begin = PRIVATE_KEY_BEGIN.exec(text)) {
    PRIVATE_KEY_END.lastIndex = PRIVATE_KEY_BEGIN.lastIndex;
    const end = PRIVATE_KEY_END.exec(text);
    scrubbed += text.slice(from, begin.index) + SCRUBBED_MARK;
    // Truncated within the key.
    from = end === null ? text.length : PRIVATE_KEY_END.lastIndex;
    PRIVATE_KEY_BEGIN.lastIndex = from;
  }
  return scrubbed + text.slice(from);
}

export function isValidCardNumber(digits: string): boolean {
  if (!CARD_PATTERN.test(digits)) return false;
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const digit = digits.charCodeAt(i) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}

/**
 * A false candidate may overlap a card number from its second group on, so only its first group is
 * skipped.
 */
function scrubCards(text: string): string {
  if (!CARD_HINT.test(text)) return text;
  let masked = '';
  let from = 0;
  CARD_CANDIDATE_PATTERN.lastIndex = 0;
  for (let found = CARD_CANDIDATE_PATTERN.exec(text); found !== null; found = CARD_CANDIDATE_PATTERN.exec(text)) {
    const [digits] = found;
    if (isValidCardNumber(digits.replace(/[ -]/g, ''))) {
      masked += text.slice(from, found.index) + CARD_MASK;
      from = CARD_CANDIDATE_PATTERN.lastIndex;
    } else if (found[1] !== undefined || found[2] !== undefined) CARD_CANDIDATE_PATTERN.lastIndex = found.index + 4;
  }
  return from === 0 ? text : masked + text.slice(from);
}

const scrubUserInfo = (whole: string, info: string): string => {
  const colon = info.indexOf(':');
  // A long user name is a token.
  if (colon < 0) return info.length >= 20 ? `://${SCRUBBED_MARK}@` : whole;
  return `://${info.slice(0, colon)}:${SCRUBBED_MARK}@`;
};

/** Precheck: most names, versions and paths have no match and no secret. */
const SUSPECT_PATTERN = /[=:_ <]|eyJ|%3|\d{13}|\d-\d/;
const MAX_SHORT_LENGTH = 128;

/** Message and trace of an error recur with every occurrence. */
const cleanTexts = new BoundedMap<true>({ most: 1_000 });
const MAX_CACHED_LENGTH = 16_384;

const isSuspect = (text: string): boolean =>
  text.length > MAX_SHORT_LENGTH || SUSPECT_PATTERN.test(text) || TOKEN_HINT.test(text) || toVisibleText(text) !== text;

/** Returns the same text when clean. */
export function scrubText(text: string): string {
  if (text.length < 8 || !isSuspect(text) || cleanTexts.get(text) === true) return text;
  const scrubbed = scrubUntilWhole(text);
  // The text may be a slice of a much larger one.
  if (scrubbed === text && text.length <= MAX_CACHED_LENGTH) cleanTexts.set(Buffer.from(text).toString(), true);
  return scrubbed;
}

/** Removes invisible characters that hide a secret from the patterns. */
function scrubUntilWhole(text: string): string {
  const whole = scrubUntilSame(text);
  const seen = toVisibleText(text);
  if (seen === text) return whole;
  const scrubbed = scrubUntilSame(seen);
  return scrubbed === toVisibleText(whole) ? whole : scrubbed;
}

function scrubUntilSame(text: string): string {
  let before = text;
  let after = scrubOnce(text);
  // A removal may reveal an adjacent secret.
  for (let pass = 1; after !== before && pass < MAX_PASSES; pass++) {
    before = after;
    after = scrubOnce(after);
  }
  return after;
}

const scrubOnce = (text: string): string => scrubCards(scrubCredentials(text));

function scrubCredentials(text: string): string {
  let out = text;
  if (out.includes('PRIVATE KEY')) out = scrubPrivateKeys(out);
  if (out.includes('svc_') || out.includes('wd_live_')) out = out.replace(OWN_TOKEN_PATTERN, SCRUBBED_MARK);
  if (out.includes('eyJ')) out = out.replace(JWT_PATTERN, SCRUBBED_MARK);
  out = scrubKnownTokens(out, SCRUBBED_MARK);
  out = scrubWebhookUrls(out, SCRUBBED_MARK);
  if (out.includes('://') && out.includes('@')) out = out.replace(USER_INFO_PATTERN, scrubUserInfo);
  const lower = out.toLowerCase();
  if (lower.includes('code=') || lower.includes('otp=') || lower.includes('code%3d'))
    out = out.replace(SIGN_IN_CODE_PATTERN, (whole, key: string, value: string) =>
      PLAIN_CODE_PATTERN.test(value) ? whole : key + SCRUBBED_MARK,
    );
  return NAME_HINT.test(lower) ? scrubNamed(out, lower) : out;
}

function scrubNamed(text: string, lower: string): string {
  let out = text;
  const keyed = KEY_HINT.test(lower);
  if (out.includes('=') || out.includes(':') || out.includes('%3')) {
    if (lower.includes('auth')) out = out.replace(HEADER_PATTERN, replaceKeyed);
    if (lower.includes('cookie')) out = out.replace(COOKIE_PATTERN, (_, name: string) => name + SCRUBBED_MARK);
    if (keyed) out = out.replace(KEYED_SECRET_PATTERN, replaceKeyed);
    if (keyed && lower.includes('value')) out = out.replace(PAIR_PATTERN, replaceKeyed);
  }
  const bracketed = out.includes('</');
  if (keyed && (bracketed || out.includes('--'))) {
    if (bracketed) out = out.replace(ELEMENT_PATTERN, replaceKeyed);
    out = out.replace(OPTION_PATTERN, replaceKeyed);
  }
  if (lower.includes('bearer') || lower.includes('basic')) {
    out = out.replace(CREDENTIAL_PATTERN, (whole, scheme: string, value: string) =>
      WORD_PATTERN.test(value) ? whole : scheme + SCRUBBED_MARK,
    );
  }
  return out;
}

export function containsCredential(text: string): boolean {
  const seen = toVisibleText(text);
  return scrubCredentials(text) !== text || (seen !== text && scrubCredentials(seen) !== seen);
}
