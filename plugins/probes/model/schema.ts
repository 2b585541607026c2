import joi, { type ObjectSchema, type ValidationError } from 'joi';
import { named } from '../../../kernel/contract.js';
import { invalid } from '../../../kernel/errors.js';
import { listUnknownFields } from '../../../lib/unknown-fields.js';
import { OUTBOUND_METHODS } from '../../../ports/outbound.js';
import { RECORD_TYPES, START_TLS, type StartTls } from '../../../ports/reach.js';
import { KINDS, type OpenProbe, type Probe, type ProbeKind } from './probe.js';
import { isJsonPath } from './json-path.js';
import { isStatusRange } from './status-range.js';

const MAX_HEADERS = 20;
const CONNECTION = new Set(['connection', 'content-length', 'expect', 'te', 'transfer-encoding', 'upgrade']);
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Printable ASCII, so that a value cannot inject another header. */
const VALUE = /^[\t\x20-\x7e]{0,4000}$/;
const HOST =
  /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62}){0,40}\.?|\[?[0-9A-Fa-f:.]{2,45}\]?)$/;

const START_TLS_PORTS: Readonly<Record<StartTls, number>> = { smtp: 587, imap: 143, pop3: 110, ldap: 389 };
const RESOLVER =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|\[[0-9a-f:.]{2,45}\](?::\d{1,5})?|[0-9a-f]{0,4}:[0-9a-f:.]{1,45})$/i;
const RESOLVER_PORT = /^(?:[\d.]+|\[.*\]):(\d+)$/;

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
const trust = {
  ca_pem: joi
    .string()
    .max(64_000)
    .allow(null)
    .empty('')
    .default(null)
    .description('Certificate authorities that are trusted in addition to the usual ones, PEM'),
  insecure: joi.boolean().default(false).description('Any certificate will do, an expired one too'),
  cert_days_warning: certificate,
};
const headers = joi
  .object()
  .pattern(
    joi.string().allow(''),
    joi.string().pattern(VALUE).message('must be of visible ASCII characters, at most 4,000'),
  )
  .max(MAX_HEADERS)
  .custom((given: object, helpers) => {
    const names = Object.keys(given);
    if (!names.every((name) => TOKEN.test(name))) return helpers.error('object.header');
    return names.some((name) => CONNECTION.has(name.toLowerCase())) ? helpers.error('object.connection') : given;
  })
  .messages({
    'object.header': 'holds a name that no header can have',
    'object.connection': `must not hold ${[...CONNECTION].join(', ')}`,
  })
  .allow(null)
  .description('Stored encrypted and never shown again; absent: those that it has stay, for the same host');

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
  inverted: joi.boolean().default(false).description('An answer as it should be is the failure'),
  resolver: joi
    .string()
    .max(64)
    .pattern(RESOLVER)
    .custom((text: string, helpers) => {
      const port = RESOLVER_PORT.exec(text)?.[1];
      return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535) ? text : helpers.error('any.invalid');
    })
    .messages({
      'string.pattern.base': 'must be an address, or an address with a port',
      'any.invalid': 'must have a port from 1 to 65535',
    })
    .allow(null)
    .empty('')
    .default(null)
    .description('The DNS server that is asked in place of the system’s: `10.0.0.53`, `[fd00::53]:5353`'),
};

const server = (usual: number): joi.SchemaMap => ({
  host,
  port: port.optional().default(usual),
  tls: joi.boolean().default(false).description('Over TLS from the beginning'),
  ...trust,
});

const FIELDS: Readonly<Record<ProbeKind, joi.SchemaMap>> = {
  http: {
    url: joi.string().max(2_000).required(),
    method: joi
      .string()
      .valid(...OUTBOUND_METHODS)
      .default('GET'),
    body: joi.string().max(64_000).allow(null).empty('').default(null).description('What is sent, as text'),
    headers,
    expected_status: rule(isStatusRange, 'must be status codes and ranges such as 200-299,401')
      .max(100)
      .default('200-299')
      .description('Status codes and ranges: `200-299,401`'),
    contains: joi.string().max(500).allow(null).empty('').default(null).description('Text that the answer holds'),
    keyword_absent: joi
      .string()
      .max(500)
      .allow(null)
      .empty('')
      .default(null)
      .description('Text that the answer must not hold'),
    json_path: rule(isJsonPath, 'must be a path such as checks[0].state')
      .max(200)
      .allow(null)
      .empty('')
      .default(null)
      .description('Path of a value in an answer of JSON: `checks[0].state`'),
    json_value: joi.string().max(500).allow(null).empty('').default(null).description('Text that the value is'),
    redirects: joi.number().integer().min(0).max(5).default(0).description('How many are followed'),
    ...trust,
  },
  tcp: { host, port },
  tls: {
    host,
    port: port.optional().description('Absent: 443, or that of `starttls`'),
    starttls: joi
      .string()
      .valid(...START_TLS)
      .allow(null)
      .empty('')
      .default(null)
      .description('The protocol that goes over to TLS; null: TLS from the beginning'),
    ...trust,
  },
  dns: {
    host,
    record_type: joi
      .string()
      .valid(...RECORD_TYPES)
      .default('A'),
    expected_record: joi
      .string()
      .max(500)
      .allow(null)
      .empty('')
      .default(null)
      .description('Records that there must be, with commas between; of `TXT`: text that one holds'),
  },
  icmp: { host },
  websocket: { url: joi.string().max(2_000).required(), headers, ...trust },
  grpc: {
    ...server(443),
    service: joi
      .string()
      .max(120)
      .pattern(/^[\w.-]*$/)
      .allow('')
      .default(''),
  },
  postgresql: server(5432),
  mysql: server(3306),
  redis: server(6379),
  mongodb: server(27_017),
};

const SCHEMAS = Object.fromEntries(KINDS.map((of) => [of, joi.object({ kind, ...FIELDS[of], ...timing })])) as Readonly<
  Record<ProbeKind, ObjectSchema>
>;

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
    // `validateProbe` adds the defaults of the kind; fields of other kinds must not appear as
    // unknown.
    .prefs({ noDefaults: true })
    .example({ kind: 'http', url: 'https://shop.example/health', expected_status: '200', interval_seconds: 60 }),
);

const OPTIONS = {
  abortEarly: false,
  convert: false,
  stripUnknown: true,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
} as const;

function getProbeKind(given: unknown): ProbeKind | undefined {
  const of = (given as { kind?: unknown } | null | undefined)?.kind;
  return KINDS.find((one) => one === of);
}

/**
 * Returns sentences for `warnings` about fields that this kind does not have (contract 00,
 * envelope).
 */
export function findUnknownFields(given: unknown): string[] {
  const known = getProbeKind(given);
  if (known === undefined) return [];
  return listUnknownFields(joi.object({ probe: SCHEMAS[known] }).describe(), { probe: given });
}

/**
 * Validates a probe and adds defaults; fields of other kinds are dropped.
 * @throws ServiceError validation_failed, fields below `probe`
 */
export function toProbe(given: unknown): OpenProbe {
  const known = getProbeKind(given);
  if (known === undefined) throw invalid({ 'probe.kind': `must be one of ${KINDS.join(', ')}` });
  const { value, error } = SCHEMAS[known].validate(given, OPTIONS) as { value: OpenProbe; error?: ValidationError };
  if (error !== undefined) {
    throw invalid(Object.fromEntries(error.details.map(({ path, message }) => [`probe.${path.join('.')}`, message])));
  }
  rejectContradictions(value);
  if (value.kind === 'tls')
    return { ...value, port: value.port ?? (value.starttls === null ? 443 : START_TLS_PORTS[value.starttls]) };
  return value;
}

/** Adds defaults of fields that an older version did not have. */
export const parseProbe = (stored: Probe): Probe => SCHEMAS[stored.kind].validate(stored, OPTIONS).value as Probe;

/**
 * Rejects probes that are always down, and fields without effect.
 * @throws ServiceError validation_failed
 */
function rejectContradictions(probe: OpenProbe): void {
  if (probe.kind === 'http' && probe.json_value !== null && probe.json_path === null)
    throw invalid({ 'probe.json_value': 'has no effect without json_path' });
  if (probe.kind !== 'http' || probe.method !== 'HEAD') return;
  for (const field of ['body', 'contains', 'keyword_absent', 'json_path'] as const)
    if (probe[field] !== null) throw invalid({ [`probe.${field}`]: 'does not go together with HEAD' });
}

export function toStoredProbe({ headers: _headers, ...probe }: OpenProbe): Probe {
  return probe;
}
