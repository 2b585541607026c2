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
      occurrences: joi.array().items(joi.string().max(64)).min(1).max(50).unique().description('Ids of kept ones'),
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
        .description('What the part differs in'),
      title: editBody.extract('title').description('Of the new item'),
      dry_run: joi.boolean().description('Only tells what would go where'),
      reason: editBody.extract('reason'),
      claim_token: claimToken,
      force: joi.boolean(),
    })
    .description('Empty: takes a merge back')
    .example({ by: { field: 'environment', values: ['staging'] }, dry_run: true }),
);

const count = joi.number().integer().min(0);
const outside = joi.string().allow(null, '');

const side = withSchemaName(
  'SplitSide',
  whole({
    occurrences: count.description('Kept ones'),
    hits: count.description('Counted ones'),
    keys: count.description('Grouping keys that lead there'),
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
              .description('Text from outside; how many of the kept occurrences have it'),
          }),
        ),
      )
      .description('What the kept occurrences differ in'),
    leaves: side.allow(null).description('null: nothing was chosen'),
    stays: side.allow(null),
    estimated: joi.boolean().description('Not all are kept, so the counts are shared out by those that are'),
    by: whole({ field, values: joi.array().items(joi.string()) })
      .allow(null)
      .description('What tells later reports apart; null: their grouping keys'),
    says: joi.string().description('Where later reports will be counted'),
  }),
);

export const splitOutput = withSchemaName(
  'SplitAnswer',
  joi.object({
    item: itemSchema.required(),
    split_off: itemSchema.description('The new item; missing for a preview, and where a merge was taken back'),
    preview: preview.description('What went, or would go, where; missing where a merge was taken back'),
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
              'KeyReason',
              whole({
                key: joi.string(),
                origin: outside.description('Normalised file, or file#function; null: none, or not known any more'),
                masked: outside.description('The message without what differs from case to case'),
                came: joi
                  .string()
                  .valid('first', 'joined', 'flood', 'rewritten', 'merged', 'split')
                  .description('How the key came to the item'),
                kept: count.description('Kept occurrences that it counted'),
                fingerprint: joi
                  .boolean()
                  .description('A fingerprint, or a message template that the reporter states, made the key'),
                rule: whole({ id: joi.string(), name: joi.string().allow(null).description('null: it is gone') })
                  .allow(null)
                  .description('The grouping rule that named the fingerprint'),
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
