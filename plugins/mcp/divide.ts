/**
 * Divides an answer into facts that the service vouches for and text that came from outside. The value decides what is
 * a fact: numbers, booleans, and short words without spaces (ids, states, times, slugs) in fields that are not known to
 * hold outside text. Everything else is fenced, so a field that was forgotten is fenced too.
 */
import { shortened, type Fence } from './fence.js';

/** Ids, states, times, slugs, tokens. */
const WORD = /^[\w.:+@/=~-]{0,64}$/;
const KEY = /^[a-z][a-z0-9_]{0,63}$/;
/** Cursors of lists, opaque and of any length (contract 00, lists). */
const OPAQUE = new Set(['next_cursor']);
/** Characters that every text may show, even when the answer's budget is used up. */
const LEAST = 200;

export interface Limits {
  /** Characters of one text. */
  text: number;
  /** Characters of all texts together. */
  all: number;
}

export interface OutsideText {
  /** `item.stack_trace`, `items[3].title` */
  field: string;
  /** The text as shown: whole, or cut. */
  text: string;
  /** Characters of the whole text. */
  length: number;
}

export interface Divided {
  /** The answer without outside text. Null members are left out below the top level. */
  facts: Record<string, unknown>;
  /** The whole answer, with every outside text inside the fence. */
  whole: Record<string, unknown>;
  texts: OutsideText[];
}

interface Parts {
  /** Undefined when no part of it is a fact. */
  fact: unknown;
  whole: unknown;
}

/** @param outside names of members, at any depth, that hold text from outside */
export function divide(
  answer: Readonly<Record<string, unknown>>,
  outside: readonly string[],
  limits: Limits,
  fence: Fence,
): Divided {
  const divider = new Divider(new Set(outside), limits, fence);
  const { fact, whole } = divider.object(answer, '', true);
  return {
    facts: fact as Record<string, unknown>,
    whole: whole as Record<string, unknown>,
    texts: divider.texts,
  };
}

class Divider {
  readonly texts: OutsideText[] = [];
  #left: number;

  constructor(
    private readonly outside: ReadonlySet<string>,
    private readonly limits: Limits,
    private readonly fence: Fence,
  ) {
    this.#left = limits.all;
  }

  /** @param inherited names that an enclosing object lists as outside text */
  object(
    value: Readonly<Record<string, unknown>>,
    path: string,
    top = false,
    inherited: ReadonlySet<string> = this.outside,
  ): Parts {
    const own = value['untrusted_fields'];
    const outside = isTexts(own) ? new Set(own) : inherited;
    const fact: Record<string, unknown> = {};
    const whole: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      if (member === null && !top) continue;
      const parts = OPAQUE.has(key)
        ? { fact: member, whole: member }
        : this.#value(member, path === '' ? key : `${path}.${key}`, outside.has(key), this.#below(outside, key));
      if (parts.fact !== undefined) fact[key] = parts.fact;
      whole[key] = parts.whole;
    }
    return { fact, whole };
  }

  /** The names that apply to a nested object: `claim.agent` of an item means `agent` of its claim. */
  #below(outside: ReadonlySet<string>, key: string): ReadonlySet<string> {
    const named = [...outside].flatMap((name) => (name.startsWith(`${key}.`) ? [name.slice(key.length + 1)] : []));
    return named.length === 0 ? this.outside : new Set([...this.outside, ...named]);
  }

  #value(value: unknown, path: string, outside: boolean, below: ReadonlySet<string>): Parts {
    if (typeof value === 'string') {
      return value === '' || (!outside && WORD.test(value)) ? { fact: value, whole: value } : this.#text(value, path);
    }
    if (Array.isArray(value)) return this.#list(value, path, outside, below);
    if (typeof value !== 'object' || value === null) return { fact: value, whole: value };
    // Names of members can come from outside too.
    const named = Object.keys(value).every((key) => KEY.test(key));
    return outside || !named
      ? this.#text(JSON.stringify(value), path)
      : this.object(value as Record<string, unknown>, path, false, below);
  }

  #list(value: readonly unknown[], path: string, outside: boolean, below: ReadonlySet<string>): Parts {
    const parts = value.map((element, at) => this.#value(element, `${path}[${at}]`, outside, below));
    const facts = parts.map(({ fact }) => fact).filter((fact) => fact !== undefined);
    const none = facts.length === 0 && value.length > 0;
    return { fact: none ? undefined : facts, whole: parts.map(({ whole }) => whole) };
  }

  #text(value: string, field: string): Parts {
    const text = shortened(value, Math.min(this.limits.text, Math.max(LEAST, this.#left)));
    this.#left -= text.length;
    this.texts.push({ field, text, length: value.length });
    return { fact: undefined, whole: this.fence.wrap(text) };
  }
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');
