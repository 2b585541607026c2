import joi from 'joi';
import { named } from '../../kernel/contract.js';
import type { Recorded } from '../../ports/domain/bugs.js';
import type { ErrorAnswer, PublicAnswer } from '../../ports/domain/errors.js';

export function toErrorAnswer(done: Recorded, truncated: string[]): ErrorAnswer {
  const { group } = done;
  return {
    id: done.id,
    ref: done.ref,
    created: done.created,
    ignored: done.ignored_by !== null,
    ignore_rule_id: done.ignored_by,
    dedup_key: done.dedup_key,
    title: group.title,
    severity: group.severity,
    urgency: group.severity,
    item_status: group.status,
    hit_count: done.hit_count,
    hour_count: done.hour_count,
    regression: done.regression,
    sampled: done.sampled,
    truncated,
  };
}

/** Fields visible to public keys: no text of others and no state (contract 21, intake). */
export const toPublicAnswer = (done: Recorded, truncated: string[]): PublicAnswer => ({
  id: done.id,
  ref: done.ref,
  created: done.created,
  ignored: done.ignored_by !== null,
  overflow: done.overflow,
  title: done.title,
  sampled: done.sampled,
  truncated,
});

const severity = named('Severity', joi.string().valid('critical', 'high', 'medium', 'low'));
const count = joi.number().integer().min(0);

const always = {
  id: joi.string(),
  ref: joi.string().description('`<project>-<n>`'),
  created: joi.boolean().description('True for the first occurrence of a group'),
  ignored: joi.boolean().description('An ignore rule matched: recorded and counted, muted'),
  sampled: joi.boolean().description('The payload of this occurrence was kept'),
  truncated: joi.array().items(joi.string()).description('Fields that were longer than their limit and were cut'),
};

const single = {
  ...always,
  title: joi.string().allow(''),
  ignore_rule_id: joi.string().allow(null),
  dedup_key: joi.string(),
  severity,
  urgency: severity.description('The same as severity'),
  item_status: named(
    'ItemStatus',
    joi.string().valid('open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'),
  ),
  hit_count: count,
  hour_count: count.description('Occurrences within the rolling hour'),
  regression: joi.boolean().description('This occurrence reopened the group'),
  overflow: joi
    .boolean()
    .description('For an intake key: it made too many new groups within the hour; this is the project’s overflow item'),
};

const failed = named(
  'ErrorNotRecorded',
  joi.object({
    error: joi
      .object({
        code: joi.string().required(),
        message: joi.string().required(),
        fields: joi.object().pattern(joi.string(), joi.string()),
      })
      .required(),
  }),
);

const required = Object.keys(always);
const result = joi.object(single).fork(required, (field) => field.required());

const results = joi
  .array()
  .items(joi.alternatives(named('ErrorResult', result), failed))
  .description('Of a list of reports alone: in its order, each the answer of a single one or `{error}`');

/**
 * A single report gets its own response, a list gets `results`. They are one type with a condition,
 * because generated clients handle unions poorly and ignore conditions.
 */
const reported = named(
  'ErrorReported',
  joi.object({ ...single, results }).meta({ json: { if: { required: ['results'] }, else: { required } } }),
);

export const reportOutput = { 200: reported, 201: reported };
