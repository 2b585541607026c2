import joi from 'joi';
import { withSchemaName } from '../../kernel/contract/index.js';
import type { ReportResult } from '../../ports/domain/bugs.js';
import type { ErrorAnswer, PublicErrorAnswer } from '../../ports/domain/errors.js';

export function toErrorResponse(done: ReportResult, truncated: string[]): ErrorAnswer {
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

/** No text of others and no state (contract 21, intake). */
export const toPublicResponse = (done: ReportResult, truncated: string[]): PublicErrorAnswer => ({
  id: done.id,
  ref: done.ref,
  created: done.created,
  ignored: done.ignored_by !== null,
  overflow: done.overflow,
  title: done.title,
  sampled: done.sampled,
  truncated,
});

const severitySchema = withSchemaName('Severity', joi.string().valid('critical', 'high', 'medium', 'low'));
const countSchema = joi.number().integer().min(0);

const commonFields = {
  id: joi.string(),
  ref: joi.string().description('`<project>-<n>`'),
  created: joi.boolean().description('True for the first occurrence of a group'),
  ignored: joi.boolean().description('An ignore rule matched: recorded and counted, muted'),
  sampled: joi.boolean().description('The payload of this occurrence was stored'),
  truncated: joi.array().items(joi.string()).description('Fields that were truncated to their limit'),
};

const singleFields = {
  ...commonFields,
  title: joi.string().allow(''),
  ignore_rule_id: joi.string().allow(null),
  dedup_key: joi.string(),
  severity: severitySchema,
  urgency: severitySchema.description('The same as severity'),
  item_status: withSchemaName(
    'ItemStatus',
    joi.string().valid('open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'),
  ),
  hit_count: countSchema,
  hour_count: countSchema.description('Occurrences within the rolling hour'),
  regression: joi.boolean().description('This occurrence reopened the group'),
  overflow: joi
    .boolean()
    .description(
      'For an intake key that created too many new groups within the hour: this is the overflow item of the project',
    ),
};

const failedSchema = withSchemaName(
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

const requiredFields = Object.keys(commonFields);
const resultSchema = joi.object(singleFields).fork(requiredFields, (field) => field.required());

const resultsSchema = joi
  .array()
  .items(joi.alternatives(withSchemaName('ErrorResult', resultSchema), failedSchema))
  .description('Only for a list of reports: in the same order, each the response for a single report or `{error}`');

/** One type for a report and a list, because generated clients handle unions poorly. */
const reportedSchema = withSchemaName(
  'ErrorReported',
  joi
    .object({ ...singleFields, results: resultsSchema })
    .meta({ json: { if: { required: ['results'] }, else: { required: requiredFields } } }),
);

export const reportOutputSchemas = { 200: reportedSchema, 201: reportedSchema };
