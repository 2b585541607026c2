import { toRecord, limitDepth, toText, type UntypedRecord } from './untyped-values.js';

export interface EventMessage {
  shown: string;
  template: string | null;
}

const MAX_MESSAGE_LENGTH = 8192;
const MAX_VALUE_LENGTH = 1000;
const MAX_VALUES = 100;

/** `logentry`, or `message` as text or object; formatted text takes precedence. */
export function parseMessage(event: UntypedRecord): EventMessage | null {
  for (const given of [event['logentry'], event['message']]) {
    const entry = toRecord(given);
    if (entry === null) {
      const plain = toText(given);
      if (plain !== null) return { shown: plain, template: null };
      continue;
    }
    const template = toText(entry['message']);
    const formatted = toText(entry['formatted']);
    const shown = formatted ?? (template === null ? null : fillTemplate(template, entry['params']));
    if (shown !== null) return { shown, template: template === shown ? null : template };
  }
  return null;
}

/** `%s`, `%(name)d`, `%1$s`, `%.2f`, `%%` */
const PERCENT_PLACEHOLDER =
  /%(?:\((\w{1,64})\)|(\d{1,3})\$)?[-+#0]{0,4}(?:\d{1,4}|\*)?(?:\.(\d{1,3}))?[hlLqjzt]{0,2}([sdiuoxXeEfFgGcraOjvqwTtp%])/g;
/** `{}`, `{0}`, `{name}`, `{total:0.00}` */
const BRACE_PLACEHOLDER = /\{(\w{0,64})(?:[:!,][^{}]{0,50})?\}/g;

function fillTemplate(template: string, params: unknown): string {
  const values = new TemplateValues(params);
  const given = template.slice(0, MAX_MESSAGE_LENGTH);
  const printed = given.replace(
    PERCENT_PLACEHOLDER,
    (whole, name?: string, index?: string, digits?: string, kind = 's') =>
      kind === '%'
        ? '%'
        : values.format(whole, name, index === undefined ? undefined : Number(index) - 1, kind, digits),
  );
  if (values.used) return printed.slice(0, MAX_MESSAGE_LENGTH);
  const braced = given.replace(BRACE_PLACEHOLDER, (whole, name: string) =>
    INDEX_PATTERN.test(name) ? values.format(whole, undefined, Number(name)) : values.format(whole, name || undefined),
  );
  return braced.slice(0, MAX_MESSAGE_LENGTH);
}

const INDEX_PATTERN = /^\d{1,3}$/;
const MAX_DIGITS = 20;

class TemplateValues {
  used = false;
  readonly #named: ReadonlyMap<string, unknown> | null;
  readonly #listed: readonly unknown[];
  #next = 0;
  #remainingLength = MAX_MESSAGE_LENGTH;

  constructor(params: unknown) {
    const named = toRecord(params);
    const entries = named === null ? [] : Object.entries(named).slice(0, MAX_VALUES);
    const listed: unknown[] = Array.isArray(params) ? params.slice(0, MAX_VALUES) : entries.map(([, value]) => value);
    this.#listed = listed.map((value) =>
      typeof value === 'object' && value !== null
        ? JSON.stringify(limitDepth(value)).slice(0, MAX_VALUE_LENGTH)
        : value,
    );
    this.#named = named === null ? null : new Map(entries.map(([name], i) => [name, this.#listed[i]]));
  }

  format(whole: string, name?: string, index?: number, kind = 's', digits?: string): string {
    const value =
      name !== undefined && this.#named !== null ? this.#named.get(name) : this.#listed[index ?? this.#next++];
    if (value === undefined) return whole;
    this.used = true;
    const text = this.#remainingLength > 0 ? formatValue(value, kind, digits) : '';
    this.#remainingLength -= text.length;
    return text;
  }
}

function formatValue(value: unknown, kind: string, digits: string | undefined): string {
  if (typeof value === 'number' && Number.isFinite(value)) {
    if (/[eEfFgG]/.test(kind) && digits !== undefined) return value.toFixed(Math.min(Number(digits), MAX_DIGITS));
    if (/[xX]/.test(kind)) return Math.trunc(value).toString(16);
  }
  return String(value).slice(0, MAX_VALUE_LENGTH);
}
