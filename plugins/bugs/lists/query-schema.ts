/**
 * Schema of an item list query (contract 20, endpoints), shared by the URL, bulk changes and saved
 * views.
 */
import joi from 'joi';
import { named, unlisted } from '../../../kernel/contract.js';
import { SORTS } from '../item/filters.js';
import { STATUSES } from '../item/transitions.js';

export const severity = named('Severity', joi.string().valid('critical', 'high', 'medium', 'low'));
export const errorLevel = named('ErrorLevel', joi.string().valid('fatal', 'error', 'warning'));
export const itemType = named('ItemType', joi.string().valid('bug', 'feature', 'error'));
export const itemStatus = named('ItemStatus', joi.string().valid(...STATUSES));
const texts = (schema: joi.Schema = joi.string().max(1024)): joi.ArraySchema => joi.array().items(schema).max(50);

export const filters = {
  project: texts(),
  type: texts(itemType),
  status: texts(itemStatus),
  severity: texts(severity),
  error_level: texts(errorLevel),
  environment: texts(),
  exception_class: texts(),
  target_agent: texts(),
  tag: texts(),
  version: texts().description('A version that it was seen in, in any spelling: of the newest 50'),
  host: texts().description('A host that it was seen on: of the first 50'),
  muted: texts(joi.boolean()),
  regression: texts(joi.boolean()),
  blocked: texts(joi.boolean()),
  claimed_by: texts(),
  commit_sha: texts(),
  file_path: texts(),
  push_id: texts(),
  assignee: texts(),
  q: texts(joi.string().max(500).allow('')),
};

/**
 * Filters of the API. `urgency` is an alias of `severity` (contract 20, values), undocumented
 * because a further parameter would break generated clients with positional arguments.
 */
export const namedFilters = { ...filters, urgency: unlisted(texts(severity)) };

/**
 * List filters in a body: a value or an array. Unknown fields are rejected, because ignoring one
 * would match too much.
 */
export const filterBody = named(
  'ItemFilter',
  joi
    .object(Object.fromEntries(Object.entries(namedFilters).map(([name, list]) => [name, list.single().min(1)])))
    .unknown(false)
    .description('The filters of GET /bugs: a value, or an array of alternatives'),
);

export const sorting = {
  sort: joi.string().valid(...SORTS),
  order: joi.string().valid('asc', 'desc'),
};

const range = texts(joi.string().max(10)).single().min(1);
const ranges = Object.fromEntries(
  ['first_seen', 'first_from', 'first_to', 'last_seen', 'last_from', 'last_to'].map((name) => [name, range]),
);

export const savedView = joi.object({
  name: joi.string().trim().min(1).max(80).required(),
  shared: joi.boolean().default(false),
  project: joi.string().max(64).empty('').when('shared', { is: true, otherwise: joi.forbidden() }),
  query: filterBody.keys({ ...sorting, ...ranges }).required(),
});
