/**
 * A second, quick reader of a joi schema, made once per route. For nearly every good body it finds that joi would take
 * it unchanged, some twenty times faster than joi. It never refuses: joi decides about everything else, so there is one
 * source of errors and one set of rules, the schema.
 *
 * The reader uses `describe()`, joi's public account of a schema, and knows only what is named below; an unknown rule
 * makes its part of the schema "not sure". Rejected: checks written by hand beside the schema (two truths), and another
 * validation library (contract and documentation are made from joi's).
 */
import type { CustomHelpers, CustomValidator, Description, Schema } from 'joi';

/** True: joi, without conversion, accepts the value and leaves it unchanged. False proves nothing. */
export type FastCheck = (value: unknown) => boolean;

/** The query as joi would make it: with defaults, without unknown names. Null proves nothing. */
export type FastQuery = (query: Readonly<Record<string, unknown>>) => Record<string, unknown> | null;

const never: FastCheck = () => false;

/** Parts of a description that change nothing about which values are taken. */
const SILENT = new Set([
  'type',
  'flags',
  'rules',
  'allow',
  'keys',
  'items',
  'matches',
  'examples',
  'notes',
  'tags',
  'metas',
]);
const SILENT_FLAGS = new Set(['presence', 'only', 'description', 'default', 'label']);

export function fastCheck(schema: Schema): FastCheck {
  return sureOf(schema.describe());
}

const PLAIN_INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/**
 * A quick reader of queries, whose values are texts or lists of texts. A number in JavaScript's own spelling is
 * converted; joi's other conversions (other spellings, booleans) are not sure.
 * @param strict unknown names are joi's to refuse
 */
export function fastQuery(schema: Schema, strict: boolean): FastQuery {
  const node = schema.describe();
  const described = isKnown(node) ? keysOf(node) : null;
  if (described === null) return () => null;
  const fields = Object.entries(described).map(([key, inner]) => {
    const flags = flagsOf(inner);
    const isNumber = inner.type === 'number';
    return { key, isNumber, sure: sureOf(inner), needed: flags['presence'] === 'required', missing: flags['default'] };
  });
  // Such a default is made, or copied, for every query.
  if (fields.some(({ missing }) => typeof missing === 'object' || typeof missing === 'function')) return () => null;
  return (query) => {
    const value = Object.create(null) as Record<string, unknown>;
    let known = 0;
    for (const { key, isNumber, sure, needed, missing } of fields) {
      const text = query[key];
      const given = isNumber && typeof text === 'string' && PLAIN_INTEGER.test(text) ? Number(text) : text;
      if (given !== undefined) {
        if (!sure(given)) return null;
        value[key] = given;
        known += 1;
      } else if (needed) return null;
      else if (missing !== undefined) value[key] = missing;
    }
    return strict && known < Object.keys(query).length ? null : value;
  };
}

function sureOf(node: Description): FastCheck {
  const kind = KINDS[node.type ?? ''];
  if (kind === undefined || !isKnown(node)) return never;
  const flags = flagsOf(node);
  const allowed = new Set<unknown>((node['allow'] as unknown[] | undefined) ?? []);
  const own = flags['only'] === true ? never : kind(node);
  // The set comes last: a look-up hashes every character of a text.
  return allowed.size === 0 ? own : (value) => own(value) || allowed.has(value);
}

const flagsOf = (node: Description): Record<string, unknown> => (node.flags ?? {}) as Record<string, unknown>;
const rulesOf = (node: Description): Rule[] => (node['rules'] ?? []) as Rule[];

interface Rule {
  name: string;
  args?: { limit?: unknown; method?: unknown; regex?: unknown; options?: { name?: unknown; invert?: unknown } };
}

/** Whether a description holds only what this file reads, or what only words errors differently. */
function isKnown(node: Description): boolean {
  const { preferences, ...rest } = node as Description & { preferences?: object };
  if (preferences !== undefined && Object.keys(preferences).join() !== 'messages') return false;
  if (!Object.keys(rest).every((part) => SILENT.has(part))) return false;
  const flags = flagsOf(node);
  if (flags['presence'] === 'forbidden') return false;
  return Object.keys(flags).every((flag) => SILENT_FLAGS.has(flag));
}

const KINDS: Readonly<Record<string, (node: Description) => FastCheck>> = {
  any: (node) => (rulesOf(node).length === 0 ? () => true : never),
  boolean: (node) => (rulesOf(node).length === 0 ? (value) => typeof value === 'boolean' : never),
  string: (node) => {
    const rules = rulesOf(node).map((rule) => (rule.name === 'pattern' ? patternRule(rule) : lengthRule(rule)));
    if (rules.length === 0) return (value) => typeof value === 'string' && value !== '';
    return (value) => typeof value === 'string' && value !== '' && rules.every((rule) => rule(value));
  },
  number: (node) => {
    const rules = rulesOf(node).map(numberRule);
    return (value) =>
      typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER && rules.every((rule) => rule(value));
  },
  array,
  object,
  alternatives,
};

/**
 * A pattern, which joi describes by its text. Its name only words the refusal; one with a state of its own is not sure.
 */
function patternRule({ args = {} }: Rule): (value: string) => boolean {
  const { regex, options = {}, ...others } = args;
  const [, source = '', flags = 'g'] = /^\/(.*)\/(\w*)$/s.exec(String(regex)) ?? [];
  const known = Object.keys(options).every((option) => option === 'name' || option === 'invert');
  if (!known || Object.keys(others).length > 0 || /[gy]/.test(flags)) return never;
  const pattern = new RegExp(source, flags);
  const wanted = options.invert !== true;
  return (value) => pattern.test(value) === wanted;
}

/** A rule for texts and lists, whose `length` joi counts too. A rule of the schema's own is run as it is. */
function lengthRule({ name, args = {} }: Rule): (value: string | unknown[]) => boolean {
  const { limit, method } = args;
  if (name === 'custom' && typeof method === 'function') return customRule(method as CustomValidator);
  if (typeof limit !== 'number' || Object.keys(args).length > 1) return never;
  if (name === 'min') return (value) => value.length >= limit;
  return name === 'max' ? (value) => value.length <= limit : never;
}

const NOT_SURE = new Error('only joi knows');
const notSure = (): never => {
  throw NOT_SURE;
};
/** Stands for the helpers that joi gives to a rule of the schema's own; a rule that uses them is left to joi. */
const helpers = {
  error: notSure,
  message: notSure,
  warn: notSure,
  get original() {
    return notSure();
  },
  get prefs() {
    return notSure();
  },
  get schema() {
    return notSure();
  },
  get state() {
    return notSure();
  },
} satisfies CustomHelpers;

/**
 * A rule of the schema's own. A value that it refuses, changes or throws at is not sure: joi asks it again, and words
 * the refusal.
 */
function customRule(method: CustomValidator): (value: string | unknown[]) => boolean {
  return (value) => {
    try {
      return method(value, helpers) === value;
    } catch {
      return false;
    }
  };
}

function numberRule({ name, args = {} }: Rule): (value: number) => boolean {
  if (name === 'integer') return Number.isInteger;
  const { limit } = args;
  if (typeof limit !== 'number') return never;
  if (name === 'min') return (value) => value >= limit;
  return name === 'max' ? (value) => value <= limit : never;
}

function array(node: Description): FastCheck {
  const items = (node['items'] ?? []) as Description[];
  const rules = rulesOf(node).map(lengthRule);
  if (items.length > 1 || items.some((item) => flagsOf(item)['presence'] !== undefined)) return never;
  const element = items[0] === undefined ? null : sureOf(items[0]);
  return (value) =>
    Array.isArray(value) &&
    rules.every((rule) => rule(value)) &&
    (element === null || value.every((one) => one !== undefined && element(one)));
}

/** An object without keys takes any; one with keys must hold no others, because joi would take them out. */
function object(node: Description): FastCheck {
  if (rulesOf(node).length === 0 && node['keys'] === undefined) return isObject;
  const described = keysOf(node);
  if (described === null) return never;
  const keys = new Map(Object.entries(described).map(([key, inner]) => [key, sureOf(inner)]));
  const needed = Object.entries(described)
    .filter(([, inner]) => flagsOf(inner)['presence'] === 'required' || 'default' in flagsOf(inner))
    .map(([key]) => key);
  return (value) => {
    if (!isObject(value)) return false;
    for (const key of Object.keys(value)) if (keys.get(key)?.(value[key]) !== true) return false;
    return needed.every((key) => value[key] !== undefined);
  };
}

/** The keys of an object; null when its fitness does not follow from its keys one by one. */
function keysOf(node: Description): Record<string, Description> | null {
  const described = node['keys'] as Record<string, Description> | undefined;
  if (described === undefined || rulesOf(node).length > 0) return null;
  // Such a key may be required though nothing in its own description says so.
  return Object.values(described).some((inner) => 'whens' in inner || inner.type === 'link') ? null : described;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Match {
  schema?: Description;
  is?: Description;
  then?: Description;
  otherwise?: Description;
}

/** Alternatives of lists, or chosen by "is it a list?": the form of a body that takes one thing or many. */
function alternatives(node: Description): FastCheck {
  if (rulesOf(node).length > 0) return never;
  const matches = node['matches'] as Match[];
  const known = matches.every(
    ({ schema, is }) => schema?.type === 'array' || JSON.stringify(is) === JSON.stringify({ type: 'array' }),
  );
  if (!known) return never;
  const branches = matches.map(({ schema, then, otherwise }) => ({
    list: schema !== undefined ? sureOf(schema) : then === undefined ? null : sureOf(then),
    other: otherwise === undefined ? null : sureOf(otherwise),
  }));
  return (value) => {
    // Only the first branch for this side counts: a list that it may refuse is not sure, whatever the others say.
    const side = Array.isArray(value) ? 'list' : 'other';
    return branches.find((branch) => branch[side] !== null)?.[side]?.(value) === true;
  };
}
