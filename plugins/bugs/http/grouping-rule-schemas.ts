import joi from 'joi';
import { MANAGED_FIELD, whole, withSchemaName } from '../../../kernel/contract/index.js';
import { MAX_RULE_ELEMENTS, MAX_PROJECT_RULES } from '../grouping/grouping-rule.js';

/** Not every store preserves NUL and unpaired surrogates. */
const boundedText = (max: number): joi.StringSchema =>
  joi
    .string()
    .max(max)
    .pattern(/\0/, { invert: true, name: 'text without NUL' })
    .pattern(/\p{Surrogate}/u, { invert: true, name: 'whole text' });

const slug = joi.string().max(64).required();
export const projectParams = joi.object({ project: slug });
export const ruleParams = joi.object({ project: slug, id: joi.string().max(64).required() });

const PLACEHOLDER_HELP =
  '`{{ class }}`, `{{ message }}`, `{{ origin }}`, and `{{ 1 }}` to `{{ 9 }}`, the groups of `message`';

const fields = {
  name: boundedText(200).allow('', null).description('Derived from its conditions if omitted'),
  enabled: joi.boolean().description('Default true'),
  exception_class: boundedText(200)
    .allow('', null)
    .description('The class, or its last segment; `*` matches any characters; case-insensitive'),
  message: boundedText(500)
    .allow('', null)
    .description('RE2 syntax, searched in the first 2,048 characters of the message; case-insensitive'),
  origin: boundedText(500)
    .allow('', null)
    .description('`orders/db.py`, or `orders/db.py#connect`, as normalized for grouping; `*` matches any characters'),
  fingerprint: joi
    .array()
    .items(boundedText(200).min(1))
    .max(MAX_RULE_ELEMENTS)
    .allow(null)
    .description(
      `Replaces the grouping. Each element may contain ${PLACEHOLDER_HELP}; \`{{ default }}\` must be a separate element`,
    ),
  title: boundedText(200).allow('', null).description(`Title of new groups. May contain ${PLACEHOLDER_HELP}`),
};

export const ruleBody = withSchemaName(
  'GroupingRuleFields',
  joi
    .object(fields)
    .description('At least one of `exception_class`, `message`, `origin`, and at least one of `fingerprint`, `title`')
    .example({
      name: 'Timeouts by service',
      message: 'timeout of (\\w+)',
      fingerprint: ['timeout', '{{ 1 }}'],
      title: 'Timeout of {{ 1 }}',
    }),
);
export const trialBody = withSchemaName(
  'GroupingRuleTrial',
  ruleBody.keys({
    id: joi.string().max(64).description('The stored rule that it would replace; omitted for a new rule'),
  }),
);
export const orderBody = withSchemaName(
  'GroupingRuleOrder',
  joi.object({
    ids: joi
      .array()
      .items(joi.string().max(64))
      .max(MAX_PROJECT_RULES)
      .required()
      .description('All rules of the project, each once'),
  }),
);

const untrustedText = joi.string().allow(null, '');
const count = joi.number().integer().min(0);
const timestamp = joi.string().isoDate();
const elements = joi.array().items(joi.string().allow('')).allow(null);

const ruleShape = withSchemaName(
  'GroupingRule',
  whole({
    id: joi.string(),
    name: joi.string().allow(''),
    enabled: joi.boolean(),
    exception_class: joi.string().allow(null),
    message: joi.string().allow(null),
    origin: joi.string().allow(null),
    fingerprint: elements,
    title: joi.string().allow(null),
    created_by: joi.string(),
    created_at: timestamp,
    updated_at: timestamp,
  }).keys({ managed: MANAGED_FIELD }),
);
export const ruleOutput = withSchemaName('GroupingRuleAnswer', whole({ rule: ruleShape }));
export const rulesOutput = withSchemaName(
  'GroupingRules',
  whole({ items: joi.array().items(ruleShape).max(MAX_PROJECT_RULES) }),
);

const group = { ref: joi.string(), title: joi.string().allow('') };
const namedGroup = withSchemaName('NamedGroup', whole(group));

export const trialOutput = withSchemaName(
  'GroupingRuleTrialAnswer',
  whole({
    groups: count.description('Checked groups of the project, most recently seen first'),
    occurrences: count.description('Stored occurrences of them, at most 20 of each'),
    complete: joi.boolean().description('False if there are more groups'),
    fits: count.description('Occurrences that the rule matches'),
    samples: joi
      .array()
      .items(
        withSchemaName(
          'GroupingRuleSample',
          whole({
            ...group,
            id: joi.string().description('Of the occurrence'),
            occurred_at: timestamp,
            error_message: untrustedText,
            exception_class: untrustedText,
            origin: untrustedText,
            fingerprint: elements.description('With placeholders filled in'),
            new_title: untrustedText.description('Title of a new group; null if the rule sets none'),
            untrusted_fields: joi.array().items(joi.string()),
          }),
        ),
      )
      .max(20),
    destinations: joi
      .array()
      .items(
        withSchemaName(
          'GroupingRuleDestination',
          whole({
            group: namedGroup.allow(null).description('null for a new group'),
            title: untrustedText.description('Of the new group'),
            fingerprint: elements,
            occurrences: count,
            from: joi.array().items(withSchemaName('GroupingRuleSource', whole({ ...group, occurrences: count }))),
          }),
        ),
      )
      .max(20)
      .description('Where later reports would be counted that are currently counted elsewhere'),
    more_destinations: count.description('Beyond these'),
    joined: count.description('Destinations that join currently separate groups'),
    split: count.description('Existing groups that would be divided'),
    says: joi.array().items(joi.string()),
  }),
);
