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
  name: boundedText(200).allow('', null).description('Called by what it asks for when left out'),
  enabled: joi.boolean().description('Default true'),
  exception_class: boundedText(200)
    .allow('', null)
    .description('The class, or its last segment; `*` stands for any characters; upper and lower case are alike'),
  message: boundedText(500)
    .allow('', null)
    .description('RE2 syntax, searched in the first 2,048 characters of the message; upper and lower case are alike'),
  origin: boundedText(500)
    .allow('', null)
    .description('`orders/db.py`, or `orders/db.py#connect`, as grouping normalises it; `*` stands for any characters'),
  fingerprint: joi
    .array()
    .items(boundedText(200).min(1))
    .max(MAX_RULE_ELEMENTS)
    .allow(null)
    .description(
      `Replaces the grouping. Each element may hold ${PLACEHOLDER_HELP}; \`{{ default }}\` is an element of its own`,
    ),
  title: boundedText(200).allow('', null).description(`Of new groups. May hold ${PLACEHOLDER_HELP}`),
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
  ruleBody.keys({ id: joi.string().max(64).description('The stored rule that it would replace; left out: it is new') }),
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
    groups: count.description('Groups of the project that were looked at, those seen last first'),
    occurrences: count.description('Kept occurrences of them, at most 20 of each'),
    complete: joi.boolean().description('False: there are more groups'),
    fits: count.description('Occurrences that the rule takes'),
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
            fingerprint: elements.description('As the rule fills it in'),
            new_title: untrustedText.description('That a new group would get; null: the rule gives none'),
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
            group: namedGroup.allow(null).description('null: a new group'),
            title: untrustedText.description('Of the new group'),
            fingerprint: elements,
            occurrences: count,
            from: joi.array().items(withSchemaName('GroupingRuleSource', whole({ ...group, occurrences: count }))),
          }),
        ),
      )
      .max(20)
      .description('Where later reports would be counted that are counted elsewhere today'),
    more_destinations: count.description('Beyond these'),
    joined: count.description('Destinations that join what is apart today'),
    split: count.description('Groups of today that would be divided'),
    says: joi.array().items(joi.string()),
  }),
);
