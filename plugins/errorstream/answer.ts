/** What a report is answered with (contract 21, answer). */
import joi from 'joi';
import type { Recorded } from '../../ports/domain/bugs.js';
import type { ErrorAnswer, PublicAnswer } from '../../ports/domain/errors.js';

export function answerOf(done: Recorded, truncated: string[]): ErrorAnswer {
  const { item } = done;
  return {
    id: done.id,
    ref: done.ref,
    created: done.created,
    ignored: done.ignored_by !== null,
    ignore_rule_id: done.ignored_by,
    dedup_key: done.dedup_key,
    title: item.title,
    severity: item.severity,
    urgency: item.severity,
    item_status: item.status,
    hit_count: done.hit_count,
    hour_count: done.hour_count,
    regression: done.regression,
    sampled: done.sampled,
    truncated,
  };
}

/** Field by field what a public key may know; nothing that others wrote, and no state (contract 21, intake). */
export const publicAnswerOf = (done: Recorded, truncated: string[]): PublicAnswer => ({
  id: done.id,
  ref: done.ref,
  created: done.created,
  ignored: done.ignored_by !== null,
  overflow: done.overflow,
  title: done.title,
  sampled: done.sampled,
  truncated,
});

const severity = joi.string().valid('critical', 'high', 'medium', 'low');
const count = joi.number().integer().min(0);

const single = joi.object({
  id: joi.string(),
  ref: joi.string().description('<project>-<n>'),
  created: joi.boolean().description('True for the first occurrence of a group'),
  ignored: joi.boolean().description('An ignore rule matched: recorded and counted, muted'),
  ignore_rule_id: joi.string().allow(null),
  dedup_key: joi.string(),
  title: joi.string(),
  severity,
  urgency: severity.description('The same as severity'),
  item_status: joi.string().valid('open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'),
  hit_count: count,
  hour_count: count.description('Occurrences within the rolling hour'),
  regression: joi.boolean().description('This occurrence reopened the group'),
  overflow: joi
    .boolean()
    .description('To an intake key: it made too many new groups within the hour, this is the project’s overflow item'),
  sampled: joi.boolean().description('The payload of this occurrence was kept'),
  truncated: joi.array().items(joi.string()).description('Fields that were longer than their limit and were cut'),
});

const failed = joi.object({
  error: joi.object({
    code: joi.string(),
    message: joi.string(),
    fields: joi.object().pattern(joi.string(), joi.string()),
  }),
});

export const reportOutput = single.keys({
  results: joi
    .array()
    .items(joi.alternatives(single, failed))
    .description('For a list, in its order, and then nothing beside it'),
});
