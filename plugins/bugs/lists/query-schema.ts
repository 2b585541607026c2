import joi from 'joi';
import { withSchemaName, hideFromOpenApi } from '../../../kernel/contract/index.js';
import { SORT_NAMES } from '../item/filters.js';
import { STATUSES } from '../item/transitions.js';

export const severitySchema = withSchemaName('Severity', joi.string().valid('critical', 'high', 'medium', 'low'));
export const errorLevelSchema = withSchemaName('ErrorLevel', joi.string().valid('fatal', 'error', 'warning'));
export const itemTypeSchema = withSchemaName('ItemType', joi.string().valid('bug', 'feature', 'error'));
export const itemStatusSchema = withSchemaName('ItemStatus', joi.string().valid(...STATUSES));
const buildTextListSchema = (schema: joi.Schema = joi.string().max(1024)): joi.ArraySchema =>
  joi.array().items(schema).max(50);

export const filterSchemas = {
  project: buildTextListSchema(),
  type: buildTextListSchema(itemTypeSchema),
  status: buildTextListSchema(itemStatusSchema),
  severity: buildTextListSchema(severitySchema),
  error_level: buildTextListSchema(errorLevelSchema),
  environment: buildTextListSchema(),
  exception_class: buildTextListSchema(),
  target_agent: buildTextListSchema(),
  tag: buildTextListSchema(),
  version: buildTextListSchema().description('A version in which it was seen, in any spelling; one of the newest 50'),
  host: buildTextListSchema().description('A host on which it was seen; one of the first 50'),
  muted: buildTextListSchema(joi.boolean()),
  regression: buildTextListSchema(joi.boolean()),
  blocked: buildTextListSchema(joi.boolean()),
  claimed_by: buildTextListSchema(),
  commit_sha: buildTextListSchema(),
  file_path: buildTextListSchema(),
  push_id: buildTextListSchema(),
  assignee: buildTextListSchema(),
  q: buildTextListSchema(joi.string().max(500).allow('')),
};

/**
 * `urgency` is an alias of `severity` (contract 20, values), undocumented because a parameter would
 * break generated clients with positional arguments.
 */
export const namedFilterSchemas = { ...filterSchemas, urgency: hideFromOpenApi(buildTextListSchema(severitySchema)) };

/** Unknown fields are rejected, because ignoring one would match too much. */
export const filterBodySchema = withSchemaName(
  'ItemFilter',
  joi
    .object(Object.fromEntries(Object.entries(namedFilterSchemas).map(([name, list]) => [name, list.single().min(1)])))
    .unknown(false)
    .description('The filters of GET /bugs: a value, or an array of alternatives'),
);

export const sortSchemas = {
  sort: joi.string().valid(...SORT_NAMES),
  order: joi.string().valid('asc', 'desc'),
};

const timeRangeSchema = buildTextListSchema(joi.string().max(10)).single().min(1);
const timeRangeSchemas = Object.fromEntries(
  ['first_seen', 'first_from', 'first_to', 'last_seen', 'last_from', 'last_to'].map((name) => [name, timeRangeSchema]),
);

export const savedViewSchema = joi.object({
  name: joi.string().trim().min(1).max(80).required(),
  shared: joi.boolean().default(false),
  project: joi.string().max(64).empty('').when('shared', { is: true, otherwise: joi.forbidden() }),
  query: filterBodySchema.keys({ ...sortSchemas, ...timeRangeSchemas }).required(),
});
