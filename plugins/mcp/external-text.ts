/**
 * Marks external text in a response. Numbers, booleans and short words without spaces (ids, states,
 * times, slugs) need no mark outside fields with known external text. Everything else is marked, so
 * that a forgotten field is marked too.
 */
import { UserText } from '../../ports/tools.js';
import { truncateVisible, type TextFence } from './text-fence.js';

const WORD_PATTERN = /^[\w.:+@/=~-]{0,64}$/;
const KEY_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
/** Cursors, opaque and of any length (contract 00, lists). */
const OPAQUE_FIELDS = new Set(['next_cursor']);
/** Lists the fields with external text; removed, because the marks show it. */
const UNTRUSTED_FIELDS_KEY = 'untrusted_fields';
/** Characters that every text may show, even when the total limit is reached. */
const MIN_TEXT_LENGTH = 200;

export interface TextLimits {
  text: number;
  all: number;
}

export interface TruncatedText {
  /** `item.stack_trace`, `items[3].title` */
  field: string;
  shown: number;
  length: number;
}

export interface MarkedResponse {
  /** The response with marked external text. Null members below the top level are omitted. */
  data: Record<string, unknown>;
  hasMarks: boolean;
  cut: TruncatedText[];
}

/** @param outside names of members, at any depth, that contain external text */
export function markExternalText(
  answer: Readonly<Record<string, unknown>>,
  outside: readonly string[],
  limits: TextLimits,
  fence: TextFence,
): MarkedResponse {
  const marker = new ExternalTextMarker(new Set(outside), limits, fence);
  const data = marker.markObject(answer, '', true);
  return { data, hasMarks: marker.hasMarks, cut: marker.cut };
}

class ExternalTextMarker {
  readonly cut: TruncatedText[] = [];
  hasMarks = false;
  #remainingCharacters: number;

  constructor(
    private readonly outside: ReadonlySet<string>,
    private readonly limits: TextLimits,
    private readonly fence: TextFence,
  ) {
    this.#remainingCharacters = limits.all;
  }

  /** @param inherited names that an enclosing object lists as external text */
  markObject(
    value: Readonly<Record<string, unknown>>,
    path: string,
    top = false,
    inherited: ReadonlySet<string> = this.outside,
  ): Record<string, unknown> {
    const own = value[UNTRUSTED_FIELDS_KEY];
    const outside = isTextList(own) ? new Set(own) : inherited;
    const shown: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (key === UNTRUSTED_FIELDS_KEY || member === undefined || (member === null && !top)) continue;
      const at = path === '' ? key : `${path}.${key}`;
      shown[key] = OPAQUE_FIELDS.has(key)
        ? member
        : this.#markValue(member, at, outside.has(key), this.#getNestedNames(outside, key));
    }
    return shown;
  }

  /** Returns the names for a nested object: `claim.agent` of an item means `agent` of its claim. */
  #getNestedNames(outside: ReadonlySet<string>, key: string): ReadonlySet<string> {
    const named = [...outside].flatMap((name) => (name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []));
    return named.length === 0 ? this.outside : new Set([...this.outside, ...named]);
  }

  #markValue(value: unknown, path: string, outside: boolean, below: ReadonlySet<string>): unknown {
    if (typeof value === 'string') {
      return value === '' || (!outside && WORD_PATTERN.test(value)) ? value : this.#wrapText(value, path);
    }
    if (value instanceof UserText) return this.#markUserText(value, path);
    if (Array.isArray(value)) return value.map((one, at) => this.#markValue(one, `${path}[${at}]`, outside, below));
    if (typeof value !== 'object' || value === null) return value;
    // Member names can be external too.
    const named = Object.keys(value).every((key) => KEY_PATTERN.test(key));
    return outside || !named
      ? this.#wrapText(JSON.stringify(value), path)
      : this.markObject(value as Record<string, unknown>, path, false, below);
  }

  #markUserText({ parts }: UserText, path: string): string {
    return parts
      .map(({ text, quoted }) => (quoted ? this.#wrapText(text, path) : this.#truncateText(text, path)))
      .join('\n');
  }

  #wrapText(value: string, path: string): string {
    this.hasMarks = true;
    return this.fence.wrap(this.#truncateText(value, path));
  }

  #truncateText(value: string, field: string): string {
    const text = truncateVisible(
      value,
      Math.min(this.limits.text, Math.max(MIN_TEXT_LENGTH, this.#remainingCharacters)),
    );
    this.#remainingCharacters -= text.length;
    if (text.length < value.length) this.cut.push({ field, shown: text.length, length: value.length });
    return text;
  }
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
