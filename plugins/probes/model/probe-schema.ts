import joi, { type ObjectSchema, type ValidationError } from 'joi';
import { withSchemaName } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { listUnknownFields } from '../../../lib/unknown-fields.js';
import { OUTBOUND_METHODS } from '../../../ports/outbound.js';
import { RECORD_TYPES, START_TLS_PROTOCOLS, type StartTlsProtocol } from '../../../ports/network-probe.js';
import { PROBE_KINDS, type ProbeWithHeaders, type Probe, type ProbeKind } from './probe.js';
import { isJsonPath } from './json-path.js';
import { isStatusRange } from './status-range.js';

const MAX_HEADERS = 20;
const CONNECTION_HEADERS = new Set(['connection', 'content-length', 'expect', 'te', 'transfer-encoding', 'upgrade']);
const HEADER_NAME_PATTERN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
/** Printable ASCII, so that a value cannot inject another header. */
const HEADER_VALUE_PATTERN = /^[\t\x20-\x7e]{0,4000}$/;
const HOST_PATTERN =
  /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,62})(?:\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62}){0,40}\.?|\[?[0-9A-Fa-f:.]{2,45}\]?)$/;

const START_TLS_PORTS: Readonly<Record<StartTlsProtocol, number>> = { smtp: 587, imap: 143, pop3: 110, ldap: 389 };
const RESOLVER_PATTERN =
  /^(?:(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|\[[0-9a-f:.]{2,45}\](?::\d{1,5})?|[0-9a-f]{0,4}:[0-9a-f:.]{1,45})$/i;
const RESOLVER_PORT_PATTERN = /^(?:[\d.]+|\[.*\]):(\d+)$/;

const buildTextRule = (fits: (text: string) => boolean, says: string): joi.StringSchema =>
  joi
    .string()
    .custom((text: string, helpers) => (fits(text) ? text : helpers.error('any.invalid')))
    .messages({ 'any.invalid': says });

const kind = joi
  .string()
  .valid(...PROBE_KINDS)
  .required();
const host = joi.string().max(253).pattern(HOST_PATTERN).message('must be a name or an address').required();
const port = joi.number().integer().min(1).max(65_535).required();
const certificateDays = joi
  .number()
  .integer()
  .min(0)
  .max(365)
  .default(14)
  .description('Warn if the certificate expires in fewer days; 0 for no warning');
const tlsFields = {
  ca_pem: joi
    .string()
    .max(64_000)
    .allow(null)
    .empty('')
    .default(null)
    .description('Additional trusted certificate authorities, PEM'),
  insecure: joi.boolean().default(false).description('Accept any certificate, even an expired one'),
  cert_days_warning: certificateDays,
};
const headers = joi
  .object()
  .pattern(
    joi.string().allow(''),
    joi.string().pattern(HEADER_VALUE_PATTERN).message('must be at most 4,000 visible ASCII characters'),
  )
  .max(MAX_HEADERS)
  .custom((given: object, helpers) => {
    const names = Object.keys(given);
    if (!names.every((name) => HEADER_NAME_PATTERN.test(name))) return helpers.error('object.header');
    return names.some((name) => CONNECTION_HEADERS.has(name.toLowerCase()))
      ? helpers.error('object.connection')
      : given;
  })
  .messages({
    'object.header': 'contains an invalid header name',
    'object.connection': `must not contain ${[...CONNECTION_HEADERS].join(', ')}`,
  })
  .allow(null)
  .description('Stored encrypted and never shown again; if omitted, existing ones are retained for the same host');

const timingFields = {
  interval_seconds: joi.number().integer().min(20).max(86_400).default(60).description('Between two askings'),
  timeout_ms: joi
    .number()
    .integer()
    .min(100)
    .max(30_000)
    .default(10_000)
    .description('Timeout of one attempt, in milliseconds'),
  retries: joi
    .number()
    .integer()
    .min(0)
    .max(10)
    .default(1)
    .description('Retries before a failure counts; it is a warning until then'),
  inverted: joi.boolean().default(false).description('Invert the result: a successful check is a failure'),
  resolver: joi
    .string()
    .max(64)
    .pattern(RESOLVER_PATTERN)
    .custom((text: string, helpers) => {
      const port = RESOLVER_PORT_PATTERN.exec(text)?.[1];
      return port === undefined || (Number(port) >= 1 && Number(port) <= 65_535) ? text : helpers.error('any.invalid');
    })
    .messages({
      'string.pattern.base': 'must be an address, or an address with a port',
      'any.invalid': 'must have a port from 1 to 65535',
    })
    .allow(null)
    .empty('')
    .default(null)
    .description('DNS server to use instead of that of the system: `10.0.0.53`, `[fd00::53]:5353`'),
};

const buildServerFields = (usual: number): joi.SchemaMap => ({
  host,
  port: port.optional().default(usual),
  tls: joi.boolean().default(false).description('Use TLS from the start of the connection'),
  ...tlsFields,
});

const FIELDS_BY_KIND: Readonly<Record<ProbeKind, joi.SchemaMap>> = {
  http: {
    url: joi.string().max(2_000).required(),
    method: joi
      .string()
      .valid(...OUTBOUND_METHODS)
      .default('GET'),
    body: joi.string().max(64_000).allow(null).empty('').default(null).description('Request body as text'),
    headers,
    expected_status: buildTextRule(isStatusRange, 'must be status codes and ranges such as 200-299,401')
      .max(100)
      .default('200-299')
      .description('Status codes and ranges: `200-299,401`'),
    contains: joi
      .string()
      .max(500)
      .allow(null)
      .empty('')
      .default(null)
      .description('Text that the response must contain'),
    keyword_absent: joi
      .string()
      .max(500)
      .allow(null)
      .empty('')
      .default(null)
      .description('Text that the response must not contain'),
    json_path: buildTextRule(isJsonPath, 'must be a path such as checks[0].state')
      .max(200)
      .allow(null)
      .empty('')
      .default(null)
      .description('Path of a value in a JSON response: `checks[0].state`'),
    json_value: joi.string().max(500).allow(null).empty('').default(null).description('Expected value as text'),
    redirects: joi.number().integer().min(0).max(5).default(0).description('Maximum number of redirects to follow'),
    ...tlsFields,
  },
  tcp: { host, port },
  tls: {
    host,
    port: port.optional().description('Default: 443, or that of `starttls`'),
    starttls: joi
      .string()
      .valid(...START_TLS_PROTOCOLS)
      .allow(null)
      .empty('')
      .default(null)
      .description('Protocol that is upgraded to TLS; null for TLS from the start'),
    ...tlsFields,
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
      .description('Expected records, separated by commas; for `TXT`, text that one of them contains'),
  },
  icmp: { host },
  websocket: { url: joi.string().max(2_000).required(), headers, ...tlsFields },
  grpc: {
    ...buildServerFields(443),
    service: joi
      .string()
      .max(120)
      .pattern(/^[\w.-]*$/)
      .allow('')
      .default(''),
  },
  postgresql: buildServerFields(5432),
  mysql: buildServerFields(3306),
  redis: buildServerFields(6379),
  mongodb: buildServerFields(27_017),
};

const SCHEMAS_BY_KIND = Object.fromEntries(
  PROBE_KINDS.map((of) => [of, joi.object({ kind, ...FIELDS_BY_KIND[of], ...timingFields })]),
) as Readonly<Record<ProbeKind, ObjectSchema>>;

/** Returns the names of its fields without `kind`, those of the kind first. */
export const listProbeFields = (of: ProbeKind): string[] => [
  ...Object.keys(FIELDS_BY_KIND[of]),
  ...Object.keys(timingFields),
];

export const probeSchema = withSchemaName(
  'Probe',
  joi
    .object({
      kind,
      ...Object.fromEntries(
        Object.entries(
          Object.assign({}, ...PROBE_KINDS.map((of) => FIELDS_BY_KIND[of])) as Record<string, joi.Schema>,
        ).map(([name, schema]) => [name, schema.optional()]),
      ),
      ...timingFields,
    })
    .unknown()
    .meta({ validated_elsewhere: true })
    // Fields of other kinds must not appear as unknown.
    .prefs({ noDefaults: true })
    .example({ kind: 'http', url: 'https://shop.example/health', expected_status: '200', interval_seconds: 60 }),
);

const VALIDATION_OPTIONS = {
  abortEarly: false,
  convert: false,
  stripUnknown: true,
  errors: { label: false, wrap: { array: false, string: false }, escapeHtml: false, stack: false },
} as const;

function getProbeKind(given: unknown): ProbeKind | undefined {
  const of = (given as { kind?: unknown } | null | undefined)?.kind;
  return PROBE_KINDS.find((one) => one === of);
}

/** For `warnings` (contract 00, envelope). */
export function findUnknownFields(given: unknown): string[] {
  const known = getProbeKind(given);
  if (known === undefined) return [];
  return listUnknownFields(joi.object({ probe: SCHEMAS_BY_KIND[known] }).describe(), { probe: given });
}

/**
 * Drops fields of other kinds.
 * @throws ServiceError validation_failed, fields below `probe`
 */
export function validateProbe(given: unknown): ProbeWithHeaders {
  const known = getProbeKind(given);
  if (known === undefined) throw invalid({ 'probe.kind': `must be one of ${PROBE_KINDS.join(', ')}` });
  const { value, error } = SCHEMAS_BY_KIND[known].validate(given, VALIDATION_OPTIONS) as {
    value: ProbeWithHeaders;
    error?: ValidationError;
  };
  if (error !== undefined) {
    throw invalid(Object.fromEntries(error.details.map(({ path, message }) => [`probe.${path.join('.')}`, message])));
  }
  rejectContradictions(value);
  if (value.kind === 'tls')
    return { ...value, port: value.port ?? (value.starttls === null ? 443 : START_TLS_PORTS[value.starttls]) };
  return value;
}

/** Older versions lacked some fields. */
export const parseProbe = (stored: Probe): Probe =>
  SCHEMAS_BY_KIND[stored.kind].validate(stored, VALIDATION_OPTIONS).value as Probe;

/**
 * Such probes are always down.
 * @throws ServiceError validation_failed
 */
function rejectContradictions(probe: ProbeWithHeaders): void {
  if (probe.kind === 'http' && probe.json_value !== null && probe.json_path === null)
    throw invalid({ 'probe.json_value': 'has no effect without json_path' });
  if (probe.kind !== 'http' || probe.method !== 'HEAD') return;
  for (const field of ['body', 'contains', 'keyword_absent', 'json_path'] as const)
    if (probe[field] !== null) throw invalid({ [`probe.${field}`]: 'cannot be combined with HEAD' });
}

export function toStoredProbe({ headers: _headers, ...probe }: ProbeWithHeaders): Probe {
  return probe;
}
