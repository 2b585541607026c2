import { record, shallow, text, type Loose } from './values.js';

export interface EventMessage {
  shown: string;
  template: string | null;
}

const LONGEST = 8192;
const LONGEST_VALUE = 1000;
const MOST_VALUES = 100;

/** Reads `logentry`, or `message` as text or object. The formatted text takes precedence. */
export function messageOf(event: Loose): EventMessage | null {
  for (const given of [event['logentry'], event['message']]) {
    const entry = record(given);
    if (entry === null) {
      const plain = text(given);
      if (plain !== null) return { shown: plain, template: null };
      continue;
    }
    const template = text(entry['message']);
    const formatted = text(entry['formatted']);
    const shown = formatted ?? (template === null ? null : filled(template, entry['params']));
    if (shown !== null) return { shown, template: template === shown ? null : template };
  }
  return null;
}

/** `%s`, `%(name)d`, `%1$s`, `%.2f`, `%%` */
const PERCENT =
  /%(?:\((\w{1,64})\)|(\d{1,3})\$)?[-+#0]{0,4}(?:\d{1,4}|\*)?(?:\.(\d{1,3}))?[hlLqjzt]{0,2}([sdiuoxXeEfFgGcraOjvqwTtp%])/g;
/** `{}`, `{0}`, `{name}`, `{total:0.00}` */
const BRACED = /\{(\w{0,64})(?:[:!,][^{}]{0,50})?\}/g;

function filled(template: string, params: unknown): string {
  const values = new Values(params);
  const given = template.slice(0, LONGEST);
  const printed = given.replace(PERCENT, (whole, name?: string, index?: string, digits?: string, kind = 's') =>
    kind === '%' ? '%' : values.put(whole, name, index === undefined ? undefined : Number(index) - 1, kind, digits),
  );
  if (values.used) return printed.slice(0, LONGEST);
  const braced = given.replace(BRACED, (whole, name: string) =>
    INDEX.test(name) ? values.put(whole, undefined, Number(name)) : values.put(whole, name || undefined),
  );
  return braced.slice(0, LONGEST);
}

const INDEX = /^\d{1,3}$/;
const MOST_DIGITS = 20;

class Values {
  used = false;
  readonly #named: ReadonlyMap<string, unknown> | null;
  readonly #listed: readonly unknown[];
  #next = 0;
  #room = LONGEST;

  constructor(params: unknown) {
    const named = record(params);
    const entries = named === null ? [] : Object.entries(named).slice(0, MOST_VALUES);
    const listed: unknown[] = Array.isArray(params) ? params.slice(0, MOST_VALUES) : entries.map(([, value]) => value);
    this.#listed = listed.map((value) =>
      typeof value === 'object' && value !== null ? JSON.stringify(shallow(value)).slice(0, LONGEST_VALUE) : value,
    );
    this.#named = named === null ? null : new Map(entries.map(([name], i) => [name, this.#listed[i]]));
  }

  put(whole: string, name?: string, index?: number, kind = 's', digits?: string): string {
    const value =
      name !== undefined && this.#named !== null ? this.#named.get(name) : this.#listed[index ?? this.#next++];
    if (value === undefined) return whole;
    this.used = true;
    const text = this.#room > 0 ? written(value, kind, digits) : '';
    this.#room -= text.length;
    return text;
  }
}

function written(value: unknown, kind: string, digits: string | undefined): string {
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (/[eEfFgG]/.test(kind) && digits !== undefined) return value.toFixed(Math.min(Number(digits), MOST_DIGITS));
    if (/[xX]/.test(kind)) return Math.trunc(value).toString(16);
  }
  return String(value).slice(0, LONGEST_VALUE);
}
