/** What `probe` of a monitor may hold (contract 30, probes). */
import joi, { type ObjectSchema, type ValidationError } from 'joi';
import { named } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import { descriptionOf } from '../../../lib/schemas/description-of.js';
import { unknownFields } from '../../../lib/unknown-fields.js';
import { RECORD_TYPES } from '../../../ports/reach.js';
import { KINDS, type OpenProbe, type Probe, type ProbeKind } from './probe.js';
import { isJsonPath } from './json-path.js';
import { isStatusRange } from './status-range.js';

const MAX_HEADERS = 20;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Visible ASCII and blanks: nothing that could begin another header. */
const VALUE = /^[\t\x20-\x7e]{0,4000}$/;
/** Names of DNS with the underscores of services, and addresses with or without brackets. */
const HOST =
  /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62}){0,40}\.?|\[?[0-9A-Fa-f:.]{2,45}\]?)$/;

const rule = (fits: (text: string) => boolean, says: string): joi.StringSchema =>
  joi
    .string()
    .custom((text: string, helpers) => (fits(text) ? text : helpers.error('any.invalid')))
    .messages({ 'any.invalid': says });

const kind = joi
  .string()
  .valid(...KINDS)
  .required();
const host = joi.string().max(253).pattern(HOST).message('must be a name or an address').required();
const port = joi.number().integer().min(1).max(65_535).required();
const certificate = joi
  .number()
  .integer()
  .min(0)
  .max(365)
  .default(14)
  .description('Fewer days until the certificate expires are a warning; 0: none is given');
const timing = {
  interval_seconds: joi.number().integer().min(20).max(86_400).default(60).description('Between two askings'),
  timeout_ms: joi.number().integer().min(100).max(30_000).default(10_000).description('Of one asking, in milliseconds'),
  retries: joi
    .number()
    .integer()
    .min(0)
    .max(10)
    .default(1)
    .description('Further tries before a failure counts; it is a warning until then'),
};

const FIELDS: Readonly<Record<ProbeKind, joi.SchemaMap>> = {
  http: {
    url: joi.string().max(2_000).required(),
    method: joi.string().valid('GET', 'HEAD', 'POST').default('GET'),
    headers: joi
      .object()
      .pattern(
        joi.string().allow(''),
        joi.string().pattern(VALUE).message('must be of visible ASCII characters, at most 4,000'),
      )
      .max(MAX_HEADERS)
      .custom((headers: object, helpers) =>
        Object.keys(headers).every((name) => TOKEN.test(name)) ? headers : helpers.error('object.header'),
      )
      .messages({ 'object.header': 'holds a name that no header can have' })
      .allow(null)
      .description('Stored encrypted and never shown again; absent: those that it has stay, for the same host'),
    expected_status: rule(isStatusRange, 'must be status codes and ranges such as 200-299,401')
      .max(100)
      .default('200-299')
      .description('Status codes and ranges: `200-299,401`'),
    contains: joi.string().max(500).allow(null).empty('').default(null).description('Text that the answer holds'),
    json_path: rule(isJsonPath, 'must be a path such as checks[0].state')
      .max(200)
      .allow(null)
      .empty('')
      .default(null)
      .description('Path of a value in an answer of JSON: `checks[0].state`'),
    json_value: joi.string().max(500).allow(null).empty('').default(null).description('Text that the value is'),
    redirects: joi.number().integer().min(0).max(5).default(0).description('How many are followed'),
    cert_days_warning: certificate,
  },
  tcp: { host, port },
  tls: { host, port: port.optional().default(443), cert_days_warning: certificate },
  dns: {
    host,
    record_type: joi
      .string()
      .valid(...RECORD_TYPES)
      .default('A'),
    expected_record: joi.string().max(500).allow(null).empty('').default(null).description('Text that a record holds'),
  },
  icmp: { host },
};

const schemaOf = (of: ProbeKind): ObjectSchema => joi.object({ kind, ...FIELDS[of], ...timing });

/** Every field of every kind, for the description and for forms. */
export const anyProbe = named(
  'Probe',
  joi
    .object({
      kind,
      ...Object.fromEntries(
        Object.entries(Object.assign({}, ...KINDS.map((of) => FIELDS[of])) as Record<string, joi.Schema>).map(
          ([name, schema]) => [name, schema.optional()],
        ),
      ),
      ...timing,
    })
    .unknown()
    .meta({ judged_elsewhere: true })
    // Those of its kind come with it (`probeOf`); of other kinds none are to be told as unknown.
    .prefs({ noDefaults: true })
    .example({ kind: 'http', url: 'https://shop.example/health', expected_status: '200', interval_seconds: 60 }),
);

const OPTIONS = {
  abortEarly: false,
  convert: false,
  stripUnknown: true,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
} as const;

function kindOf(given: unknown): ProbeKind | undefined {
  const of = (given as { kind?: unknown } | null | undefined)?.kind;
  return KINDS.find((one) => one === of);
}

/** Fields that the kind of this probe does not have, in sentences for `warnings` (contract 00, envelope). */
export function unknownOf(given: unknown): string[] {
  const known = kindOf(given);
  if (known === undefined) return [];
  return unknownFields(descriptionOf(joi.object({ probe: schemaOf(known) })), { probe: given });
}

/**
 * A probe as a caller gave it, with its defaults; fields of other kinds are dropped.
 * @throws ServiceError validation_failed, fields below `probe`
 */
export function probeOf(given: unknown): OpenProbe {
  const known = kindOf(given);
  if (known === undefined) throw invalid({ 'probe.kind': `must be one of ${KINDS.join(', ')}` });
  const { value, error } = schemaOf(known).validate(given, OPTIONS) as { value: OpenProbe; error?: ValidationError };
  if (error !== undefined) {
    throw invalid(Object.fromEntries(error.details.map(({ path, message }) => [`probe.${path.join('.')}`, message])));
  }
  return value;
}

/** Without the headers, which are stored elsewhere. */
export function storedOf({ headers: _headers, ...probe }: OpenProbe): Probe {
  return probe;
}
