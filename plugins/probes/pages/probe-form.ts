import { invalid } from '../../../kernel/errors.js';

/** The source may contain slashes. */
export const getProbeHref = (source: string): string => `/probes/${encodeURIComponent(source)}`;

export const NEW_PROBE_PATH = '/probes/new';

const TEXT_FIELDS = [
  'kind',
  'url',
  'method',
  'expected_status',
  'body',
  'contains',
  'keyword_absent',
  'json_path',
  'json_value',
  'host',
  'record_type',
  'expected_record',
  'starttls',
  'service',
  'resolver',
  'ca_pem',
];
const NUMBER_FIELDS = ['redirects', 'port', 'cert_days_warning', 'interval_seconds', 'timeout_ms', 'retries'];
const BOOLEAN_FIELDS = ['tls', 'insecure', 'inverted'];
const HEADER_PATTERN = /^([^:\s]{1,100})\s{0,10}:\s{0,10}(.{0,4000})$/;

export const getFormText = (form: Record<string, unknown>, name: string): string => {
  const value = form[name];
  return typeof value === 'string' ? value.trim() : '';
};

/**
 * Missing headers stay unchanged.
 * @throws ServiceError validation_failed
 */
export function readProbeForm(form: Record<string, unknown>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const name of TEXT_FIELDS) if (getFormText(form, name) !== '') given[name] = getFormText(form, name);
  for (const name of NUMBER_FIELDS) if (getFormText(form, name) !== '') given[name] = Number(getFormText(form, name));
  for (const name of BOOLEAN_FIELDS) if (form[name] === 'true') given[name] = true;
  const lines = getFormText(form, 'headers')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  if (form['no_headers'] === 'true') given['headers'] = null;
  else if (lines.length > 0) given['headers'] = parseHeaders(lines);
  return given;
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => HEADER_PATTERN.exec(line.trim()));
  if (pairs.includes(null)) throw invalid({ 'probe.headers': 'must be lines of a name, a colon and a value' });
  return Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', pair?.[2] ?? '']));
}

export const toControlErrors = (errors: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(errors).map(([path, text]) => [
      path.replace(/^probe\./, '').replace(/^headers\..*/, 'headers'),
      text,
    ]),
  );
