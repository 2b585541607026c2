import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';
import { DIFFERENCE_FIELDS } from '../grouping/report-difference.js';
import { claimToken, editBody } from './schemas.js';
import { itemSchema } from './schemas-output.js';

const field = withSchemaName('SplitField', joi.string().valid(...DIFFERENCE_FIELDS));

export const splitBody = withSchemaName(
  'SplitRequest',
  joi
    .object({
      occurrences: joi
        .array()
        .items(joi.string().max(64))
        .min(1)
        .max(50)
        .unique()
        .description('Ids of stored occurrences'),
      by: joi
        .object({
          field: field.required(),
          values: joi
            .array()
            .items(joi.string().min(1).max(500))
            .min(1)
            .max(50)
            .description('RE2 for `message`; else those of `occurrences`'),
        })
        .description('How the part differs'),
      title: editBody.extract('title').description('Of the new item'),
      dry_run: joi.boolean().description('Preview only'),
      reason: editBody.extract('reason'),
      claim_token: claimToken,
      force: joi.boolean(),
    })
    .description('Empty to revert a merge')
    .example({ by: { field: 'environment', values: ['staging'] }, dry_run: true }),
);

const count = joi.number().integer().min(0);
const outside = joi.string().allow(null, '');

const side = withSchemaName(
  'SplitSide',
  whole({
    occurrences: count.description('Stored ones'),
    hits: count.description('Counted ones'),
    keys: count.description('Grouping keys that belong to it'),
    samples: joi
      .array()
      .items(
        withSchemaName(
          'SplitSample',
          whole({
            id: joi.string(),
            occurred_at: joi.string().isoDate(),
            error_message: outside,
            exception_class: outside,
            file_path: outside,
            app_version: outside,
            environment: outside,
            host: outside,
            untrusted_fields: joi.array().items(joi.string()),
          }),
        ),
      )
      .max(5),
  }),
);

const preview = withSchemaName(
  'SplitPreview',
  whole({
    differences: joi
      .array()
      .items(
        withSchemaName(
          'SplitVariety',
          whole({
            field,
            values: joi
              .array()
              .items(withSchemaName('SplitValue', whole({ value: joi.string(), count })))
              .description('External text, and the number of stored occurrences that have it'),
          }),
        ),
      )
      .description('How the stored occurrences differ'),
    leaves: side.allow(null).description('null if nothing was selected'),
    stays: side.allow(null),
    estimated: joi.boolean().description('Not all are stored, so counts are estimated from the stored ones'),
    by: whole({ field, values: joi.array().items(joi.string()) })
      .allow(null)
      .description('What distinguishes later reports; null for their grouping keys'),
    says: joi.string().description('Where later reports will be counted'),
  }),
);

export const splitOutput = withSchemaName(
  'SplitAnswer',
  joi.object({
    item: itemSchema.required(),
    split_off: itemSchema.description('The new item; omitted for a preview and for a reverted merge'),
    preview: preview.description('What was, or would be, moved; omitted for a reverted merge'),
  }),
);

const words = joi.array().items(joi.string());

export const groupingOutput = withSchemaName(
  'GroupingAnswer',
  whole({
    grouping: withSchemaName(
      'GroupReasons',
      whole({
        exception_class: outside,
        keys: joi
          .array()
          .items(
            withSchemaName(
              'GroupingKeyReason',
              whole({
                key: joi.string(),
                origin: outside.description('Normalized file, or file#function; null if missing or no longer known'),
                masked: outside.description('The message without variable parts'),
                came: joi
                  .string()
                  .valid('first', 'joined', 'flood', 'rewritten', 'merged', 'split')
                  .description('How the key came to the item'),
                kept: count.description('Stored occurrences that it counted'),
                fingerprint: joi
                  .boolean()
                  .description('The key comes from a fingerprint or a message template of the reporter'),
                rule: whole({ id: joi.string(), name: joi.string().allow(null).description('null if it was deleted') })
                  .allow(null)
                  .description('The grouping rule that set the fingerprint'),
              }),
            ),
          )
          .max(20),
        more_keys: count.description('Keys beyond these'),
        merged: words.description('Refs of items that were merged into it'),
        split_from: joi.string().allow(null).description('Ref of the item that it was split off from'),
        split_off: words.description('Parts that are counted elsewhere'),
        says: words.description('All of it in sentences'),
        untrusted_fields: words,
      }),
    ),
  }),
);
