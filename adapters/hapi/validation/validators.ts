/**
 * Bodies are taken literally (`"5"` is not a number) and lose unknown fields; query parameters are
 * converted. All errors are collected, except for large bodies.
 */
import type { Schema, ValidationError, ValidationOptions } from 'joi';
import joi from 'joi';
import { cleanName, listUnknownFields, type DescribedFields } from '../../../lib/unknown-fields.js';
import { VALIDATION_MESSAGES } from '../../../lib/validation-messages.js';
import { getDroppedKeys } from '../body/json.js';
import { Failure } from '../wire/failure.js';
import { memoize } from './memoize.js';

const MAX_FIELD_ERRORS = 50;
const LARGE_BODY_BYTES = 64 * 1024;
const MAX_WARNINGS = 10;

const COMMON_OPTIONS: ValidationOptions = {
  abortEarly: true,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
  messages: VALIDATION_MESSAGES,
};
const BODY_OPTIONS: ValidationOptions = {
  ...COMMON_OPTIONS,
  convert: false,
  stripUnknown: { objects: true, arrays: false },
};
const BODY_ALL_OPTIONS: ValidationOptions = { ...BODY_OPTIONS, abortEarly: false };
const QUERY_OPTIONS: ValidationOptions = {
  ...COMMON_OPTIONS,
  abortEarly: false,
  stripUnknown: { objects: true, arrays: false },
};
const STRICT_QUERY_OPTIONS: ValidationOptions = { ...COMMON_OPTIONS, abortEarly: false };

interface DescribedShape {
  type?: string;
  keys?: Record<string, DescribedShape>;
  matches?: { schema?: DescribedShape }[];
}

const isArrayAllowed = (described: DescribedShape): boolean =>
  described.type === 'array' ||
  described.type === 'any' ||
  (described.matches ?? []).some((match) => match.schema !== undefined && isArrayAllowed(match.schema));

export interface ValidatedBody {
  value: unknown;
  unknown: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];

export class BodyValidator {
  readonly #prepared: () => { array: boolean; first: Schema; all: Schema };
  readonly #described: () => DescribedFields;

  constructor(schema: Schema) {
    this.#prepared = memoize(() => ({
      array: isArrayAllowed(schema.describe()),
      // joi would compile the messages with each call.
      first: schema.prefs(BODY_OPTIONS),
      all: schema.prefs(BODY_ALL_OPTIONS),
    }));
    this.#described = memoize(() => schema.describe() as DescribedFields);
  }

  validate(body: unknown, bytes: number): ValidatedBody | Failure {
    const rule = this.#prepared();
    if (typeof body !== 'object' || body === null || (Array.isArray(body) && !rule.array)) {
      return new Failure('invalid_json', `The body must be a JSON object${rule.array ? ' or an array of them' : ''}.`);
    }
    const { value, error } = rule.first.validate(body);
    if (!error) return { value, unknown: this.#listUnknownFields(body) };
    const all = bytes > LARGE_BODY_BYTES ? error : (rule.all.validate(body).error ?? error);
    return new Failure('validation_failed', 'Some fields of the body are not valid.', {
      fields: toFieldErrors(all, 'body'),
    });
  }

  #listUnknownFields(body: object): readonly string[] {
    return listUnknownFields(this.#described(), body, getDroppedKeys);
  }
}

export interface ValidatedQuery {
  value: Record<string, unknown>;
  unknown: readonly string[];
}

export class QueryValidator {
  readonly #prepared: () => {
    whole: Schema;
    lists: readonly string[];
    known: ReadonlySet<string>;
  };

  constructor(schema: Schema | undefined, strict: boolean) {
    this.#prepared = memoize(() => {
      const base = schema ?? joi.object({});
      const { keys = {} } = base.describe() as DescribedShape;
      return {
        whole: base.prefs(strict ? STRICT_QUERY_OPTIONS : QUERY_OPTIONS),
        lists: Object.keys(keys).filter((key) => keys[key]?.type === 'array'),
        known: new Set(Object.keys(keys)),
      };
    });
  }

  validate(query: Record<string, unknown>): ValidatedQuery | Failure {
    const { whole, lists, known } = this.#prepared();
    const single = lists.filter((key) => typeof query[key] === 'string');
    for (const key of single) query[key] = [query[key]];
    const { value, error } = whole.validate(query) as {
      value: Record<string, unknown>;
      error?: ValidationError;
    };
    if (!error) return { value, unknown: listUnknownParameters(query, known) };
    const fields = toFieldErrors(error, 'query', (type) =>
      type === 'object.unknown'
        ? `is not a parameter of this path; ${known.size === 0 ? 'it has none' : `allowed: ${[...known].join(', ')}`}`
        : null,
    );
    const fieldErrors = Object.entries(fields).map(([path, text]): [string, string] => [
      // A caller that gave a single value does not know that it could be a list.
      single.find((key) => path === `${key}.0`) ?? path,
      Array.isArray(query[path]) && !lists.includes(path) ? 'is given more than once' : text,
    ]);
    return new Failure('invalid_request', 'Some query parameters are not valid.', {
      fields: Object.fromEntries(fieldErrors),
    });
  }
}

function listUnknownParameters(query: Record<string, unknown>, known: ReadonlySet<string>): readonly string[] {
  const unknown = Object.keys(query).filter((name) => !known.has(name));
  if (unknown.length === 0) return NO_WARNINGS;
  return [
    ...unknown
      .slice(0, MAX_WARNINGS)
      .map((name) => `${cleanName(name)} is not a parameter of this path and was ignored`),
    ...(unknown.length > MAX_WARNINGS ? ['further parameters were ignored'] : []),
  ];
}

export type ParamsSchema = () => Schema;

export const createParamsSchema = (schema: Schema | undefined): ParamsSchema | null =>
  schema === undefined ? null : memoize(() => schema.prefs(QUERY_OPTIONS));

/** Null when they are invalid: 404. */
export function validateParams(
  rule: ParamsSchema | null,
  params: Record<string, string>,
): Record<string, string> | null {
  for (const name in params) if (params[name]!.includes('\0')) return null;
  if (rule === null) return params;
  const { value, error } = rule().validate(params) as { value: Record<string, string>; error?: ValidationError };
  return error ? null : value;
}

function toFieldErrors(
  error: ValidationError,
  root: string,
  text: (type: string) => string | null = () => null,
): Record<string, string> {
  const fields = new Map<string, string>();
  for (const detail of error.details.slice(0, MAX_FIELD_ERRORS)) {
    const path = detail.path.join('.').slice(0, 200) || root;
    if (!fields.has(path)) fields.set(path, text(detail.type) ?? detail.message.trim().slice(0, 300));
  }
  // Not assigned, because a parameter may be called `__proto__`.
  return Object.fromEntries(fields);
}
