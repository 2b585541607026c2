/**
 * Monitors of Uptime Kuma, from its backup file (Settings, Backup, Export): `monitorList`. What it asks becomes a
 * probe, what is pushed to it keeps its push address. Pure.
 */
import { listIn, numberIn, sourceOf, textIn, type Fields, type ImportedMonitor } from './imported.js';

const MIN_INTERVAL = 20;
const MAX_TIMEOUT_MS = 30_000;
const ROOT = /^\$\.?/;

/** @throws NotImportable */
export const monitorsOf = (text: string): ImportedMonitor[] =>
  listIn(text, ['monitorList', 'monitors'], 'the file that Uptime Kuma exports as its backup').map(monitorOf);

function monitorOf(monitor: Fields, at: number): ImportedMonitor {
  const notes: string[] = [];
  const name = textIn(monitor, 'name') ?? `monitor ${at + 1}`;
  const type = textIn(monitor, 'type') ?? '';
  const parent = numberIn(monitor, 'parent');
  const interval = numberIn(monitor, 'interval') ?? 60;
  const active = monitor['active'] !== false && monitor['active'] !== 0;
  const asked = probeOf(type, monitor, notes);
  if (!active && asked !== null) notes.push('It was paused: no probe was made of it.');
  if (Object.keys(objectIn(monitor, 'notificationIDList')).length > 0)
    notes.push('Its notifications: make channels or webhooks.');
  return {
    key: String(numberIn(monitor, 'id') ?? `row ${at}`),
    parent_key: parent === null ? null : String(parent),
    wanted: sourceOf(name),
    fields: {
      name: name.slice(0, 200),
      description: textIn(monitor, 'description')?.slice(0, 5_000) ?? null,
      ...(type === 'push' && { interval_seconds: Math.max(0.05, interval) }),
    },
    probe: asked !== null && active ? { ...asked, ...timingOf(monitor, interval) } : null,
    address: type === 'push' ? textIn(monitor, 'pushToken') : null,
    notes,
  };
}

function timingOf(monitor: Fields, interval: number): object {
  const timeout = numberIn(monitor, 'timeout');
  return {
    interval_seconds: Math.max(MIN_INTERVAL, Math.min(86_400, Math.round(interval))),
    retries: Math.max(0, Math.min(10, Math.round(numberIn(monitor, 'maxretries') ?? 0))),
    ...(timeout !== null && timeout > 0 && { timeout_ms: Math.max(100, Math.min(MAX_TIMEOUT_MS, timeout * 1_000)) }),
  };
}

const objectIn = (from: Fields, name: string): Fields => {
  const value = from[name];
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
};

/** Null: it asks nothing, or nothing that has a counterpart. */
function probeOf(type: string, monitor: Fields, notes: string[]): object | null {
  const host = textIn(monitor, 'hostname');
  const port = numberIn(monitor, 'port');
  if (monitor['upsideDown'] === true || monitor['upsideDown'] === 1) {
    notes.push('It was upside down (an answer is a failure): no probe was made of it.');
    return null;
  }
  if (type === 'http' || type === 'keyword' || type === 'json-query') return httpOf(type, monitor, notes);
  if (type === 'port') return { kind: 'tcp', host, port };
  if (type === 'ping') return { kind: 'icmp', host };
  if (type === 'dns') {
    if (textIn(monitor, 'dns_resolve_server') !== null)
      notes.push('Its own DNS server: the servers of this machine are asked.');
    return { kind: 'dns', host, record_type: textIn(monitor, 'dns_resolve_type') ?? 'A' };
  }
  if (type !== 'push' && type !== 'group') notes.push(`Monitors of type ${type || 'unknown'}: none are asked here.`);
  return null;
}

function httpOf(type: string, monitor: Fields, notes: string[]): object {
  const codes = Array.isArray(monitor['accepted_statuscodes']) ? monitor['accepted_statuscodes'].join(',') : null;
  const headers = headersOf(monitor, notes);
  const method = textIn(monitor, 'method') ?? 'GET';
  const known = ['GET', 'HEAD', 'POST'].includes(method);
  if (!known) notes.push(`The method ${method}: GET is used.`);
  if (textIn(monitor, 'body') !== null) notes.push('The body of its request: none is sent.');
  if (monitor['ignoreTls'] === true || monitor['ignoreTls'] === 1)
    notes.push('Faults of TLS were ignored; here they count.');
  if (monitor['invertKeyword'] === true || monitor['invertKeyword'] === 1)
    notes.push('A keyword that must be absent: it is not looked for.');
  const keyword = type === 'keyword' && !monitor['invertKeyword'] ? textIn(monitor, 'keyword') : null;
  const path = type === 'json-query' ? textIn(monitor, 'jsonPath')?.replace(ROOT, '') : null;
  return {
    kind: 'http',
    url: textIn(monitor, 'url'),
    method: known ? method : 'GET',
    redirects: Math.max(0, Math.min(5, numberIn(monitor, 'maxredirects') ?? 0)),
    ...(monitor['expiryNotification'] === false && { cert_days_warning: 0 }),
    ...(codes && { expected_status: codes }),
    ...(keyword && { contains: keyword }),
    ...(path && { json_path: path, json_value: textIn(monitor, 'expectedValue') }),
    ...(headers !== null && { headers }),
  };
}

/** Null: it has none. */
function headersOf(monitor: Fields, notes: string[]): Record<string, string> | null {
  const found: Record<string, string> = {};
  const text = textIn(monitor, 'headers');
  try {
    for (const [name, value] of Object.entries(text === null ? {} : (JSON.parse(text) as object)))
      found[name] = String(value);
  } catch {
    notes.push('Its headers cannot be read: none are sent.');
  }
  const user = textIn(monitor, 'basic_auth_user');
  // User and password of NTLM stand in the same fields. A secret is sent by the scheme it was made for, or not at all.
  const scheme = textIn(monitor, 'authMethod') ?? textIn(monitor, 'auth_method');
  if (scheme !== null && scheme !== 'basic')
    notes.push(`Its credentials for ${scheme.slice(0, 20)}: probes do not have this scheme, so none are sent.`);
  else if (user !== null) {
    const secret = Buffer.from(`${user}:${textIn(monitor, 'basic_auth_pass') ?? ''}`).toString('base64');
    found['Authorization'] = `Basic ${secret}`;
  }
  return Object.keys(found).length === 0 ? null : found;
}
