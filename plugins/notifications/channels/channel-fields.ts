import joi from 'joi';
import { withSchemaName, hideFromOpenApi } from '../../../kernel/contract/index.js';
import { isTimeZone } from '../../../lib/local-time.js';
import { EVENT_NAMES } from '../notes/topics.js';
import { SEVERITIES } from '../notes/note.js';
import { ALL_EVENTS, type ChannelFields } from './channel.js';
import { CHANNEL_KIND_NAMES, type ChannelKind } from './channel-kinds.js';

/** Absent ones stay unchanged or get their default. */
export type ChannelInput = Partial<Omit<ChannelFields, 'kind'>> & { kind?: ChannelKind; managed?: true };

const MAX_REPEAT_MINUTES = 7 * 1_440;
const MAX_DELAY_MINUTES = 1_440;
const MAX_TEMPLATE_CHARACTERS = 10_000;
const MAX_LIST_ITEMS = 100;

const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Set by the transport, or changing the request's meaning. */
const RESERVED_HEADER_PATTERN = /^(?:host|content-length|transfer-encoding|connection|upgrade|te|trailer|expect)$/i;

const buildListSchema = (element: joi.StringSchema): joi.Schema =>
  joi
    .alternatives(
      joi.array().items(element).max(MAX_LIST_ITEMS),
      hideFromOpenApi(
        joi
          .string()
          .allow('')
          .max(4_000)
          .custom((text: string, helpers) => {
            const parts = text
              .split(/[,\n]/)
              .map((part) => part.trim())
              .filter((part) => part !== '');
            const checked = joi.array().items(element).max(MAX_LIST_ITEMS).validate(parts, { convert: false });
            return checked.error === undefined ? parts : helpers.message({ custom: checked.error.message });
          }),
      ),
    )
    .match('any');

const events = [ALL_EVENTS, ...EVENT_NAMES];
const clock = joi
  .string()
  .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
  .allow(null)
  .messages({ 'string.pattern.base': 'must be a time of day such as 22:00' });
const buildMinutesSchema = (most: number): joi.NumberSchema => joi.number().integer().min(0).max(most);

const headers = joi
  .object()
  .pattern(
    joi.string(),
    joi
      .string()
      .allow('')
      .max(2_000)
      .pattern(/\p{Cc}/u, { invert: true }),
  )
  .max(20)
  .allow(null)
  .custom((given: Record<string, string> | null, helpers) => {
    const bad = Object.keys(given ?? {}).find(
      (name) => !HEADER_NAME_PATTERN.test(name) || RESERVED_HEADER_PATTERN.test(name),
    );
    return bad === undefined ? given : helpers.message({ custom: `header ${bad.slice(0, 100)} cannot be set` });
  });

const fields = {
  name: joi.string().trim().min(1).max(100),
  kind: joi.string().valid(...CHANNEL_KIND_NAMES),
  enabled: joi.boolean(),
  target: joi
    .string()
    .trim()
    .max(2_000)
    .allow(null)
    .description('Recipients: addresses, a webhook URL, a topic, a chat ID. Stored encrypted; a URL is never returned'),
  secret: joi
    .string()
    .max(500)
    .allow(null)
    .description(
      'Token or key of the service; of `http`: signs the requests. Stored encrypted and never returned; null removes it',
    ),
  server: joi
    .string()
    .trim()
    .max(500)
    .allow(null)
    .description('Address of the API of the service; null for the default'),
  headers: headers.description('`http` only. Stored encrypted and never returned; null removes them'),
  template: joi
    .string()
    .max(MAX_TEMPLATE_CHARACTERS)
    .allow(null)
    .description(
      '`http` only: body of the request, with `{{title}}`, `{{text}}`, `{{severity}}` and so on; null for all values as JSON',
    ),
  events: buildListSchema(joi.string().valid(...events)).description('Names of events; `*` for all'),
  min_severity: joi
    .string()
    .valid(...SEVERITIES)
    .description('Minimum severity'),
  monitors: buildListSchema(joi.string().trim().min(1).max(128)).description(
    'Only these sources (`*` matches any characters); empty for all',
  ),
  tags: buildListSchema(joi.string().trim().min(1).max(64)).description(
    'Only items and monitors with one of these tags; empty for all',
  ),
  projects: buildListSchema(joi.string().trim().min(1).max(64)).description(
    'Only these projects, by slug; empty for all',
  ),
  repeat_minutes: buildMinutesSchema(MAX_REPEAT_MINUTES).description(
    'Minutes between reminders while a monitor is down; 0 for none',
  ),
  flap_minutes: buildMinutesSchema(MAX_DELAY_MINUTES).description(
    'Another alarm of a monitor within this many minutes must last as long before it is sent; 0 to send immediately',
  ),
  quiet_from: clock.description('Start of the quiet hours, `22:00`; null for none'),
  quiet_to: clock,
  timezone: joi
    .string()
    .max(60)
    .allow(null)
    .custom((value: string | null, helpers) =>
      value === null || isTimeZone(value) ? value : helpers.error('any.invalid'),
    )
    .messages({ 'any.invalid': 'must be a time zone, such as Europe/Berlin' })
    .description('Time zone of quiet hours and of times in messages; null for `app.timezone`'),
  critical_immediately: joi.boolean().description('Critical notifications ignore quiet hours and the digest'),
  digest_minutes: buildMinutesSchema(MAX_DELAY_MINUTES).description(
    'At most one message in this many minutes; 0 to send each immediately',
  ),
} satisfies Record<keyof ChannelFields, joi.Schema>;

export const createBody = withSchemaName(
  'ChannelCreation',
  joi.object({ ...fields, name: fields.name.required(), kind: fields.kind.required() }).example({
    name: 'on call',
    kind: 'slack',
    target: 'https://hooks.slack.com/services/…',
    events: ['monitor.down'],
  }),
);
export const changeBody = withSchemaName('ChannelChange', joi.object(fields));

const lines = joi
  .string()
  .allow('')
  .max(10_000)
  .custom((text: string, helpers) => {
    const given = text.split(/\r?\n/).filter((line) => line.trim() !== '');
    const pairs = given.map((line) => /^([^:]+):(.*)$/.exec(line));
    if (pairs.includes(null)) return helpers.message({ custom: 'must have a name, a colon and a value in each line' });
    const object = Object.fromEntries(pairs.map((pair) => [pair?.[1]?.trim() ?? '', pair?.[2]?.trim() ?? '']));
    const checked = headers.validate(object);
    return checked.error === undefined ? object : helpers.message({ custom: checked.error.message });
  });

const formClock = clock.empty('').default(null).messages({ 'string.pattern.base': 'Use the format 22:00.' });

/** All are text; empty ones are omitted. */
export const formFields = joi.object<ChannelInput>({
  ...Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, (schema as joi.AnySchema).empty('')])),
  name: fields.name.required(),
  enabled: joi.boolean().default(false),
  critical_immediately: joi.boolean().default(false),
  headers: lines.empty(''),
  template: fields.template.empty('').default(null),
  events: joi
    .array()
    .items(joi.valid(...events))
    .single()
    .min(1)
    .required()
    .messages({ 'any.required': 'Choose at least one.', 'array.min': 'Choose at least one.' }),
  projects: joi.array().items(joi.string().max(64)).single().default([]),
  monitors: fields.monitors.empty('').default([]),
  tags: fields.tags.empty('').default([]),
  quiet_from: formClock,
  quiet_to: formClock,
  timezone: fields.timezone
    .empty('')
    .default(null)
    .messages({ 'any.invalid': 'Unknown time zone. Use a name such as Europe/Berlin.' }),
});
