import { readBoolean, toList, readNumber, toFields, readText, type SourceFields } from './imported-monitor.js';

const MAX_REDIRECTS = 5;
const JSON_PATH_PATTERN = /^[\w-]+(?:\.[\w-]+|\[\d{1,6}\])*$/;
/** Kuma warns 21, 14 and 7 days before expiry. */
const CERTIFICATE_WARNING_DAYS = 21;
const DEFAULT_PACKET_BYTES = 56;
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'text/xml; charset=utf-8',
};

/**
 * @param notes collects settings without a counterpart
 * @returns null without a counterpart
 */
export function buildKumaProbe(type: string, monitor: SourceFields, notes: string[]): object | null {
  const host = readText(monitor, 'hostname');
  const port = readNumber(monitor, 'port');
  const inverted: InvertedField = readBoolean(monitor, 'upsideDown') === true && { inverted: true };
  switch (type) {
    case 'http':
    case 'keyword':
    case 'json-query':
      return { ...buildHttpProbe(type, monitor, notes), ...inverted };
    case 'port':
      return { kind: 'tcp', host, port, ...inverted };
    case 'ping': {
      const size = readNumber(monitor, 'packetSize') ?? DEFAULT_PACKET_BYTES;
      if (size !== DEFAULT_PACKET_BYTES)
        notes.push(`Packet size of ${size} bytes: the default size of the system is used.`);
      return { kind: 'icmp', host, ...inverted };
    }
    case 'dns': {
      const [resolver, ...further] = (readText(monitor, 'dns_resolve_server') ?? '').split(/[\s,]+/).filter(Boolean);
      if (further.length > 0) notes.push(`Additional DNS servers: only ${resolver} is used.`);
      const record_type = readText(monitor, 'dns_resolve_type') ?? 'A';
      const own = resolver !== undefined && {
        resolver: port === null || port === 53 ? resolver : `${resolver}:${port}`,
      };
      return { kind: 'dns', host, record_type, ...own, ...inverted };
    }
    case 'postgres':
    case 'mysql':
    case 'redis':
    case 'mongodb':
      return buildDatabaseProbe(type, monitor, notes, inverted);
    case 'grpc-keyword':
      return buildGrpcProbe(monitor, notes, inverted);
    case 'websocket-upgrade':
      return { kind: 'websocket', url: readText(monitor, 'url'), ...buildTlsFields(monitor), ...inverted };
    case 'smtp': {
      const security = readText(monitor, 'smtpSecurity') ?? 'starttls';
      if (security === 'nostarttls') return { kind: 'tcp', host, port, ...inverted };
      return {
        kind: 'tls',
        host,
        port,
        ...(security !== 'secure' && { starttls: 'smtp' }),
        ...buildTlsFields(monitor),
        ...inverted,
      };
    }
    default:
      if (type !== 'push' && type !== 'group') notes.push(`Monitors of type ${type || 'unknown'} are not supported.`);
      return null;
  }
}

type InvertedField = false | { inverted: true };

const buildTlsFields = (monitor: SourceFields): object =>
  readBoolean(monitor, 'ignoreTls') === true ? { insecure: true } : {};

function buildDatabaseProbe(
  type: string,
  monitor: SourceFields,
  notes: string[],
  inverted: InvertedField,
): object | null {
  const given = readText(monitor, 'databaseConnectionString') ?? '';
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || url.hostname === '' || url.hostname.includes(',') || url.protocol.endsWith('+srv:')) {
    notes.push('The address of its database is not a single server: no probe was created.');
    return null;
  }
  if (url.username !== '' || url.password !== '') notes.push('Credentials: probes do not log in.');
  if (readText(monitor, 'databaseQuery') !== null)
    notes.push('Its query or command is not run: the server only has to respond.');
  const tls = url.protocol === 'rediss:' || ['tls', 'ssl'].some((name) => url.searchParams.get(name) === 'true');
  return {
    kind: type === 'postgres' ? 'postgresql' : type,
    host: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    ...(tls && { tls }),
    ...buildTlsFields(monitor),
    ...inverted,
  };
}

function buildGrpcProbe(monitor: SourceFields, notes: string[], inverted: InvertedField): object {
  const [, host = null, port] = /^(?:\w+:\/\/)?(.+?)(?::(\d{1,5}))?\/?$/.exec(readText(monitor, 'grpcUrl') ?? '') ?? [];
  notes.push('Its call and keyword: the gRPC health check of the whole server is used.');
  return {
    kind: 'grpc',
    host,
    ...(port !== undefined && { port: Number(port) }),
    tls: readBoolean(monitor, 'grpcEnableTls') === true,
    ...buildTlsFields(monitor),
    ...inverted,
  };
}

function buildHttpProbe(type: string, monitor: SourceFields, notes: string[]): object {
  const codes = toList(monitor['accepted_statuscodes']).filter((code) => typeof code === 'string');
  const body = readText(monitor, 'body');
  const headers = buildHeaders(monitor, body, notes);
  const redirects = readNumber(monitor, 'maxredirects') ?? 0;
  if (redirects > MAX_REDIRECTS) notes.push(`Its ${redirects} redirects: a probe follows ${MAX_REDIRECTS}.`);
  const keyword = type === 'keyword' ? readText(monitor, 'keyword') : null;
  const absent = readBoolean(monitor, 'invertKeyword') === true;
  const warnsOfExpiry = readBoolean(monitor, 'expiryNotification');
  const ca = readText(monitor, 'tlsCa');
  return {
    kind: 'http',
    url: readText(monitor, 'url'),
    method: (readText(monitor, 'method') ?? 'GET').toUpperCase(),
    redirects: Math.max(0, Math.min(MAX_REDIRECTS, redirects)),
    ...(warnsOfExpiry !== null && { cert_days_warning: warnsOfExpiry ? CERTIFICATE_WARNING_DAYS : 0 }),
    ...(codes.length > 0 && { expected_status: codes.join(',') }),
    ...(body !== null && { body }),
    ...(keyword !== null && (absent ? { keyword_absent: keyword } : { contains: keyword })),
    ...(type === 'json-query' && buildJsonCheck(monitor, notes)),
    ...buildTlsFields(monitor),
    ...(ca !== null && { ca_pem: ca }),
    ...(headers !== null && { headers }),
  };
}

/** Only simple paths of JSONata have a counterpart. */
function buildJsonCheck(monitor: SourceFields, notes: string[]): object {
  const expression = readText(monitor, 'jsonPath') ?? '$';
  const operator = readText(monitor, 'jsonPathOperator') ?? '==';
  const path = expression.replace(/^\$\.?/, '');
  if (!JSON_PATH_PATTERN.test(path)) {
    const what = path === '' ? 'of the whole response ' : '';
    notes.push(
      `Its JSON check ${what}(${expression.slice(0, 100)}): only a value at a path can be compared, so the response is not checked.`,
    );
    return {};
  }
  if (operator === '==') return { json_path: path, json_value: readText(monitor, 'expectedValue') };
  notes.push(
    `Its comparison of ${path} by ${operator.slice(0, 20)}: only equality is supported, so the value only has to exist.`,
  );
  return { json_path: path };
}

function buildHeaders(monitor: SourceFields, body: string | null, notes: string[]): Record<string, string> | null {
  const given = toFields(monitor['headers']);
  if (given === null && readText(monitor, 'headers') !== null) notes.push('Its headers are not valid: none are sent.');
  const found = Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [name, String(value)]));
  const has = (name: string): boolean => Object.keys(found).some((one) => one.toLowerCase() === name);
  const encoding = CONTENT_TYPES[readText(monitor, 'httpBodyEncoding') ?? 'json'];
  if (body !== null && encoding !== undefined && !has('content-type')) found['Content-Type'] = encoding;
  const user = readText(monitor, 'basic_auth_user');
  // NTLM uses the same fields; a secret is sent only by its own scheme.
  const scheme = readText(monitor, 'authMethod');
  if (scheme !== null && scheme !== 'basic')
    notes.push(`Its credentials for ${scheme.slice(0, 20)}: probes do not support this scheme, so none are sent.`);
  else if (user !== null && !has('authorization')) {
    const secret = Buffer.from(`${user}:${readText(monitor, 'basic_auth_pass') ?? ''}`).toString('base64');
    found['Authorization'] = `Basic ${secret}`;
  }
  return Object.keys(found).length === 0 ? null : found;
}
