/** Removes secrets before storing (contract 21, intake); never modifies its input. */
import { createHash } from 'node:crypto';
import { toVisibleText } from '../../../lib/text/invisible-characters.js';
import type { ReportDetails, Report } from '../../../ports/domain/bugs.js';
import type { Json } from '../../../ports/store/index.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { containsCredential, isValidCardNumber, SCRUBBED_MARK, scrubText } from './scrub-text.js';

/** Deeper values are not inspected and therefore dropped. */
const MAX_DEPTH = 32;
const MAX_VALUES = 20_000;

const SECRET_KEY_PATTERN =
  /passw(?:or)?d(?!less)|passwort|passphrase|passcode|pwd|pswd|secret(?!ar(?:y|i)|ions?|e[sd]?(?![a-z])|ive|ly|ory)|apikey|accesskey|privatekey|encryptionkey|authorization|credential|cookies?(?!s?(?:banner|consent|polic|notice|enabled|accepted|setting|preference|jar))|sess(?:ion)?id(?!le)|cardnumber|creditcard|ccnumber/;
const SECRET_KEYS = new Set([
  'pass',
  'auth',
  'pin',
  'sid',
  'xauth',
  'xauthtoken',
  'xsentryauth',
  'cvv',
  'cvv2',
  'cvc',
  'cvc2',
  'card',
  'csrf',
  'xsrf',
  'otp',
  'totp',
]);

/** `db_pw`, `userPw`. */
const SHORT_KEY_PATTERN = /(?:^|[^A-Za-z])[pP][sS]?[wW](?:[^A-Za-z]|$)|[a-z]P[wW](?![a-z])/;

export function isSecretKey(key: string): boolean {
  const seen = toVisibleText(key.slice(0, 200));
  const plain = seen.toLowerCase().replace(/[^a-z0-9]/g, '');
  return (
    SECRET_KEY_PATTERN.test(plain) || SECRET_KEYS.has(plain) || plain.endsWith('token') || SHORT_KEY_PATTERN.test(seen)
  );
}

interface KeyClassification {
  secret: boolean;
  name: string;
}

/** Reports of a program share keys; cleared when full. */
const MAX_CACHED_KEYS = 2_000;
const MAX_KEY_LENGTH = 64;
const keyClassifications = new Map<string, KeyClassification>();

function classifyKey(key: string): KeyClassification {
  const before = keyClassifications.get(key);
  if (before !== undefined) return before;
  const whole = cleanText(key);
  const verdict = { secret: isSecretKey(whole), name: scrubText(whole) };
  if (key.length > MAX_KEY_LENGTH) return verdict;
  if (keyClassifications.size >= MAX_CACHED_KEYS) keyClassifications.clear();
  keyClassifications.set(key, verdict);
  return verdict;
}

class JsonScrubber {
  #left = MAX_VALUES;

  scrubValue(value: Json, depth: number): Json {
    if (--this.#left < 0) return SCRUBBED_MARK;
    if (typeof value === 'string') return scrubText(cleanText(value));
    if (typeof value === 'number') return isCardNumber(value) ? SCRUBBED_MARK : value;
    if (value === null || typeof value !== 'object') return value;
    if (depth >= MAX_DEPTH) return SCRUBBED_MARK;
    return Array.isArray(value) ? this.#scrubArray(value, depth) : this.#scrubObject(value, depth);
  }

  #scrubArray(value: Json[], depth: number): Json {
    // A header may be a pair: ["Authorization", "Bearer …"].
    if (value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'string' && isSecretKey(value[0])) {
      const name = scrubText(cleanText(value[0]));
      return name === value[0] && value[1] === SCRUBBED_MARK ? value : [name, SCRUBBED_MARK];
    }
    let copy: Json[] | null = null;
    for (let i = 0; i < value.length; i++) {
      const before = value[i] ?? null;
      const after = this.scrubValue(before, depth + 1);
      if (after !== before) (copy ??= value.slice())[i] = after;
      if (this.#left < 0) return [...(copy ?? value).slice(0, i), SCRUBBED_MARK];
    }
    return copy ?? value;
  }

  #scrubObject(value: { [key: string]: Json | undefined }, depth: number): Json {
    let copy: [string, Json][] | null = null;
    const keys = Object.keys(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const before = value[key] ?? null;
      // A map may use secrets as keys.
      const { secret, name } = classifyKey(key);
      const hidden = secret || (key === 'value' && isNamedSecret(value));
      const after = hidden ? hideValue(before) : this.scrubValue(before, depth + 1);
      if (after !== before || name !== key) {
        copy ??= keys.slice(0, i).map((k) => [k, value[k] ?? null]);
      }
      copy?.push([name, after]);
      if (this.#left < 0) return Object.fromEntries(copy ?? keys.slice(0, i + 1).map((k) => [k, value[k] ?? null]));
    }
    return copy === null ? value : Object.fromEntries(copy);
  }
}

/** A header as an object: {name: 'Authorization', value: 'Bearer …'}. */
function isNamedSecret(value: { [key: string]: Json | undefined }): boolean {
  const name = value['name'] ?? value['key'];
  return typeof name === 'string' && isSecretKey(name);
}

/** null, '', true and false only show whether a secret is set. */
const hideValue = (value: Json): Json =>
  value === null || value === '' || typeof value === 'boolean' ? value : SCRUBBED_MARK;

const isCardNumber = (value: number): boolean =>
  value >= 1e12 && Number.isSafeInteger(value) && isValidCardNumber(String(value));

/** Returns the same value when nothing changed. */
export const scrubJson = (value: Json): Json => new JsonScrubber().scrubValue(value, 0);

const TEXT_FIELDS = [
  'title',
  'error_message',
  'message_template',
  'exception_class',
  'file_path',
  'function_name',
  'description',
  'stack_trace',
  'environment',
  'repo_url',
  'commit_sha',
  'push_id',
  'target_agent',
  'app_version',
  'resolved_in_build',
  'host',
] as const satisfies readonly (keyof Report)[];

/**
 * Returns the same report when clean. `project` is a name and `fingerprint` only hashed. A
 * `client_ref` with a credential becomes its hash, which still identifies repeats.
 */
export function scrubReport(report: Report): Report {
  const found: { -readonly [K in keyof Report]?: Report[K] } = {};
  for (const name of TEXT_FIELDS) {
    const before = report[name];
    if (typeof before !== 'string') continue;
    const after = scrubText(before);
    if (after !== before) found[name] = after;
  }
  if (report.tags) {
    const after = scrubTexts(report.tags);
    if (after !== report.tags) found.tags = after;
  }
  if (report.late) found.late = scrubJson(report.late as unknown as Json) as unknown as NonNullable<Report['late']>;
  const ref = report.client_ref;
  if (ref !== null && ref !== undefined) {
    const after = scrubRef(ref);
    if (after !== ref) found.client_ref = after;
  }
  return Object.keys(found).length === 0 ? report : { ...report, ...found };
}

/** A tag is no key of the next one. */
function scrubTexts(texts: readonly string[]): readonly string[] {
  const after = texts.map((text) => scrubText(cleanText(text)));
  return after.every((text, at) => text === texts[at]) ? texts : after;
}

/** References consist of long numbers, so card numbers are not searched. */
function scrubRef(ref: string): string {
  return containsCredential(ref) ? `sha256:${createHash('sha256').update(ref).digest('hex')}` : ref;
}

export const scrubDetails = ({ context, breadcrumbs }: ReportDetails): ReportDetails => ({
  context: scrubJson(context),
  breadcrumbs: scrubJson(breadcrumbs),
});
