/**
 * Marks external text in a response. Numbers, booleans and short words without spaces (ids, states,
 * times, slugs) need no mark outside fields with known external text. Everything else is marked, so
 * that a forgotten field is marked too.
 */
import { UserText } from '../../ports/tools.js';
import { truncateVisible, type Fence } from './fence.js';

const WORD = /^[\w.:+@/=~-]{0,64}$/;
const KEY = /^[a-z][a-z0-9_]{0,63}$/;
/** Cursors, opaque and of any length (contract 00, lists). */
const OPAQUE = new Set(['next_cursor']);
/** Lists the fields with external text; removed, because the marks show it. */
const NAMES = 'untrusted_fields';
/** Characters that every text may show, even when the total limit is reached. */
const MIN_TEXT_LENGTH = 200;

export interface Limits {
  text: number;
  all: number;
}

export interface Cut {
  /** `item.stack_trace`, `items[3].title` */
  field: string;
  shown: number;
  length: number;
}

export interface MarkedAnswer {
  /** The response with marked external text. Null members below the top level are omitted. */
  data: Record<string, unknown>;
  hasMarks: boolean;
  cut: Cut[];
}

/** @param outside names of members, at any depth, that contain external text */
export function markOutsideText(
  answer: Readonly<Record<string, unknown>>,
  outside: readonly string[],
  limits: Limits,
  fence: Fence,
): MarkedAnswer {
  const marker = new Marker(new Set(outside), limits, fence);
  const data = marker.object(answer, '', true);
  return { data, hasMarks: marker.hasMarks, cut: marker.cut };
}

class Marker {
  readonly cut: Cut[] = [];
  hasMarks = false;
  #left: number;

  constructor(
    private readonly outside: ReadonlySet<string>,
    private readonly limits: Limits,
    private readonly fence: Fence,
  ) {
    this.#left = limits.all;
  }

  /** @param inherited names that an enclosing object lists as external text */
  object(
    value: Readonly<Record<string, unknown>>,
    path: string,
    top = false,
    inherited: ReadonlySet<string> = this.outside,
  ): Record<string, unknown> {
    const own = value[NAMES];
    const outside = isTexts(own) ? new Set(own) : inherited;
    const shown: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (key === NAMES || member === undefined || (member === null && !top)) continue;
      const at = path === '' ? key : `${path}.${key}`;
      shown[key] = OPAQUE.has(key) ? member : this.#value(member, at, outside.has(key), this.#below(outside, key));
    }
    return shown;
  }

  /** Returns the names for a nested object: `claim.agent` of an item means `agent` of its claim. */
  #below(outside: ReadonlySet<string>, key: string): ReadonlySet<string> {
    const named = [...outside].flatMap((name) => (name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []));
    return named.length === 0 ? this.outside : new Set([...this.outside, ...named]);
  }

  #value(value: unknown, path: string, outside: boolean, below: ReadonlySet<string>): unknown {
    if (typeof value === 'string') {
      return value === '' || (!outside && WORD.test(value)) ? value : this.#wrapped(value, path);
    }
    if (value instanceof UserText) return this.#user(value, path);
    if (Array.isArray(value)) return value.map((one, at) => this.#value(one, `${path}[${at}]`, outside, below));
    if (typeof value !== 'object' || value === null) return value;
    // Member names can be external too.
    const named = Object.keys(value).every((key) => KEY.test(key));
    return outside || !named
      ? this.#wrapped(JSON.stringify(value), path)
      : this.object(value as Record<string, unknown>, path, false, below);
  }

  #user({ parts }: UserText, path: string): string {
    return parts.map(({ text, quoted }) => (quoted ? this.#wrapped(text, path) : this.#shown(text, path))).join('\n');
  }

  #wrapped(value: string, path: string): string {
    this.hasMarks = true;
    return this.fence.wrap(this.#shown(value, path));
  }

  #shown(value: string, field: string): string {
    const text = truncateVisible(value, Math.min(this.limits.text, Math.max(MIN_TEXT_LENGTH, this.#left)));
    this.#left -= text.length;
    if (text.length < value.length) this.cut.push({ field, shown: text.length, length: value.length });
    return text;
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
