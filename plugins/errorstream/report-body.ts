/** Truncating limits are not validated here (contract 21, intake). */
import joi from 'joi';
import { withSchemaName, withJsonSchema, hideFromOpenApi } from '../../kernel/contract/index.js';
import type { ErrorLevel } from '../../ports/domain/bugs.js';
import type { Json } from '../../ports/store/index.js';
import { timestampSchema } from './timestamp.js';

export const MAX_REPORTS = 100;
/** Fits an integer column and a JSON number. */
const MAX_LINE_NUMBER = 2_147_483_647;
const MAX_CLIENT_REF_LENGTH = 200;
const MAX_SLUG_LENGTH = 64;

type NullableText = string | null | undefined;

export interface ErrorBody {
  project: string;
  error_level: ErrorLevel;
  error_message: string;
  exception_class?: NullableText;
  file?: NullableText;
  file_path?: NullableText;
  line?: number | null;
  line_no?: number | null;
  stack_trace?: NullableText;
  environment?: NullableText;
  app_version?: NullableText;
  build?: NullableText;
  release?: NullableText;
  commit_sha?: NullableText;
  repo_url?: NullableText;
  host?: NullableText;
  user?: { id?: string | number | null } | null;
  occurred_at?: NullableText;
  sent_at?: NullableText;
  client_ref?: NullableText;
  tags?: string[] | null;
  context?: { [key: string]: Json } | null;
  breadcrumbs?: Json[] | null;
  fingerprint?: string[] | null;
}

const textSchema = joi.string().allow(null, '');
const lineSchema = joi.number().integer().min(0).max(MAX_LINE_NUMBER).allow(null);
const textListSchema = joi.array().items(joi.string().allow('')).allow(null);

export const errorBodySchema = withSchemaName(
  'ErrorReport',
  joi
    .object({
      project: joi.string().min(1).max(MAX_SLUG_LENGTH).required().description('Slug of the project'),
      error_level: withSchemaName('ErrorLevel', joi.string().valid('fatal', 'error', 'warning')).required(),
      error_message: joi
        .string()
        .allow('')
        .required()
        .description('Truncated to 8,192 characters; may be empty only with an exception_class'),
      exception_class: textSchema.description('Truncated to 200 characters'),
      file: textSchema.description('Where it happened; truncated to the last 1,024 characters'),
      file_path: textSchema.description('Alias of file'),
      line: lineSchema,
      line_no: lineSchema.description('Alias of line'),
      stack_trace: textSchema.description('Truncated to 65,536 characters'),
      environment: textSchema.description(
        'dev, development, local, test, testing, ci, qa and staging lower the severity by one level',
      ),
      app_version: textSchema,
      build: textSchema.description('Alias of app_version'),
      release: textSchema.description('Alias of app_version'),
      commit_sha: textSchema,
      repo_url: textSchema,
      host: textSchema,
      user: joi
        .object({
          id: joi
            .alternatives(joi.string().allow(''), joi.number())
            .allow(null)
            .description('ID of the user in the application; only the first 200 characters are used'),
        })
        .allow(null)
        .description('The affected user; stored only as a keyed hash to count distinct users'),
      occurred_at: timestampSchema
        .allow(null)
        .description('When it happened; defaults to, and is at most, the receive time'),
      sent_at: timestampSchema
        .allow(null)
        .description('When it was sent, by the same clock: corrects occurred_at where that clock is over a minute off'),
      client_ref: joi
        .string()
        .min(1)
        .max(MAX_CLIENT_REF_LENGTH)
        .allow(null)
        .description('Unique per project: a repeated report is not counted'),
      tags: textListSchema.description('Cut at 32'),
      context: joi.object().allow(null).description('Truncated to 32,768 characters of JSON'),
      breadcrumbs: joi.array().allow(null).description('Truncated to the last 50, and to 65,536 characters of JSON'),
      fingerprint: textListSchema.description('Replaces the grouping; `{{ default }}` inserts it'),
    })
    .example({
      project: 'shop',
      error_level: 'error',
      error_message: 'Cannot read properties of undefined (reading id)',
      exception_class: 'TypeError',
      file: 'src/cart.ts',
      line: 42,
      environment: 'production',
      app_version: '1.4.1',
    }),
);

const reportListSchema = joi
  .array()
  .items(
    withJsonSchema(
      { $ref: '#/components/schemas/ErrorReport' },
      joi.any().meta({ fields: errorBodySchema.describe() }),
    ),
  )
  .min(1)
  .max(MAX_REPORTS)
  .description('Each like a single report');

/**
 * One report, or a list validated by element (`parseElement`). openapi.json has the single report
 * only, because Go and Java clients have no type for both. The condition gives each form its own
 * errors.
 */
export const intakeBodySchema = joi
  .alternatives()
  .try(hideFromOpenApi(reportListSchema))
  .conditional(joi.array(), { otherwise: errorBodySchema });

const elementSchema = errorBodySchema.prefs({
  abortEarly: false,
  convert: false,
  stripUnknown: { objects: true, arrays: false },
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
  messages: { 'any.only': 'must be one of {{#valids}}', 'string.empty': 'must not be empty' },
});

export function parseElement(value: unknown): { body: ErrorBody } | { fields: Record<string, string> } {
  const { value: body, error } = elementSchema.validate(value) as { value: ErrorBody; error?: joi.ValidationError };
  if (error === undefined) return { body };
  const fields: Record<string, string> = {};
  for (const { path, message } of error.details.slice(0, 50))
    fields[path.join('.').slice(0, 200) || 'body'] ??= message;
  return { fields };
}
