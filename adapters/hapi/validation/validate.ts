/**
 * Validates input with joi, prepared on a route's first request. Bodies are taken literally (`"5"`
 * is not a number) and lose unknown fields; query parameters are converted. All errors are
 * collected, except for large bodies.
 */
import type { Schema, ValidationError, ValidationOptions } from 'joi';
import joi from 'joi';
import { cleanName, listUnknownFields, type DescribedFields } from '../../../lib/unknown-fields.js';
import { droppedFrom } from '../body/json.js';
import { Failure } from '../wire/failure.js';
import { once } from './once.js';

const MOST_FIELDS = 50;
const LARGE_BODY = 64 * 1024;
const MAX_WARNINGS = 10;

const messages = {
  'any.only': 'must be one of {{#valids}}',
  'any.unknown': 'is not allowed here; leave it out',
  'string.empty': 'must not be empty',
  'string.pattern.base': 'must match {{#regex}}',
  'string.pattern.name': 'must be {{#name}}',
  'string.pattern.invert.name': 'must be {{#name}}',
  'string.pattern.invert.base': 'must not match {{#regex}}',
  'object.pattern.match': 'holds a name or value that is not allowed',
};

const common: ValidationOptions = {
  abortEarly: true,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
  messages,
};
const BODY: ValidationOptions = { ...common, convert: false, stripUnknown: { objects: true, arrays: false } };
const BODY_ALL: ValidationOptions = { ...BODY, abortEarly: false };
const QUERY: ValidationOptions = { ...common, abortEarly: false, stripUnknown: { objects: true, arrays: false } };
const QUERY_STRICT: ValidationOptions = { ...common, abortEarly: false };

interface Described {
  type?: string;
  keys?: Record<string, Described>;
  matches?: { schema?: Described }[];
}

const takesArray = (described: Described): boolean =>
  described.type === 'array' ||
  described.type === 'any' ||
  (described.matches ?? []).some((match) => match.schema !== undefined && takesArray(match.schema));

export interface CheckedBody {
  value: unknown;
  unknown: readonly string[];
}

const KNOWN: readonly string[] = [];

export class BodyRule {
  readonly #prepared: () => { array: boolean; first: Schema; all: Schema };
  readonly #described: () => DescribedFields;

  constructor(schema: Schema) {
    this.#prepared = once(() => ({
      array: takesArray(schema.describe()),
      // Set on the schema, because joi would compile the messages again with each call.
      first: schema.prefs(BODY),
      all: schema.prefs(BODY_ALL),
    }));
    this.#described = once(() => schema.describe() as DescribedFields);
  }

  check(body: unknown, bytes: number): CheckedBody | Failure {
    const rule = this.#prepared();
    if (typeof body !== 'object' || body === null || (Array.isArray(body) && !rule.array)) {
      return new Failure('invalid_json', `The body must be a JSON object${rule.array ? ' or an array of them' : ''}.`);
    }
    const { value, error } = rule.first.validate(body);
    if (!error) return { value, unknown: this.#unknown(body) };
    const all = bytes > LARGE_BODY ? error : (rule.all.validate(body).error ?? error);
    return new Failure('validation_failed', 'Some fields of the body are wrong.', { fields: fieldsOf(all, 'body') });
  }

  #unknown(body: object): readonly string[] {
    return listUnknownFields(this.#described(), body, droppedFrom);
  }
}

export interface CheckedQuery {
  value: Record<string, unknown>;
  unknown: readonly string[];
}

export class QueryRule {
  readonly #prepared: () => {
    whole: Schema;
    lists: readonly string[];
    known: ReadonlySet<string>;
  };

  constructor(schema: Schema | undefined, strict: boolean) {
    this.#prepared = once(() => {
      const base = schema ?? joi.object({});
      const { keys = {} } = base.describe() as Described;
      return {
        whole: base.prefs(strict ? QUERY_STRICT : QUERY),
        lists: Object.keys(keys).filter((key) => keys[key]?.type === 'array'),
        known: new Set(Object.keys(keys)),
      };
    });
  }

  check(query: Record<string, unknown>): CheckedQuery | Failure {
    const { whole, lists, known } = this.#prepared();
    const single = lists.filter((key) => typeof query[key] === 'string');
    for (const key of single) query[key] = [query[key]];
    const { value, error } = whole.validate(query) as {
      value: Record<string, unknown>;
      error?: ValidationError;
    };
    if (!error) return { value, unknown: warningsOf(query, known) };
    const fields = fieldsOf(error, 'query', (type) =>
      type === 'object.unknown'
        ? `is not a parameter of this path; ${known.size === 0 ? 'it takes none' : `it takes ${[...known].join(', ')}`}`
        : null,
    );
    const refused = Object.entries(fields).map(([path, text]): [string, string] => [
      // A caller that gave a single value does not know that it could be a list.
      single.find((key) => path === `${key}.0`) ?? path,
      Array.isArray(query[path]) && !lists.includes(path) ? 'is given more than once' : text,
    ]);
    return new Failure('invalid_request', 'Some query parameters are wrong.', { fields: Object.fromEntries(refused) });
  }
}

function warningsOf(query: Record<string, unknown>, known: ReadonlySet<string>): readonly string[] {
  const unknown = Object.keys(query).filter((name) => !known.has(name));
  if (unknown.length === 0) return KNOWN;
  return [
    ...unknown.slice(0, MAX_WARNINGS).map((name) => `${cleanName(name)} is no parameter of this path and was ignored`),
    ...(unknown.length > MAX_WARNINGS ? ['further parameters were ignored'] : []),
  ];
}

export type ParamsRule = () => Schema;

export const paramsRule = (schema: Schema | undefined): ParamsRule | null =>
  schema === undefined ? null : once(() => schema.prefs(QUERY));

/**
 * Returns the path parameters; null when they are invalid, since such a thing cannot exist: 404.
 */
export function paramsFit(rule: ParamsRule | null, params: Record<string, string>): Record<string, string> | null {
  for (const name in params) if (params[name]!.includes('\0')) return null;
  if (rule === null) return params;
  const { value, error } = rule().validate(params) as { value: Record<string, string>; error?: ValidationError };
  return error ? null : value;
}

function fieldsOf(
  error: ValidationError,
  root: string,
  text: (type: string) => string | null = () => null,
): Record<string, string> {
  const fields = new Map<string, string>();
  for (const detail of error.details.slice(0, MOST_FIELDS)) {
    const path = detail.path.join('.').slice(0, 200) || root;
    if (!fields.has(path)) fields.set(path, text(detail.type) ?? detail.message.trim().slice(0, 300));
  }
  // Not assigned, because a parameter may be called `__proto__`.
  return Object.fromEntries(fields);
}
