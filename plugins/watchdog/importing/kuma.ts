/**
 * From the backup file (`monitorList`), API, database tables, or CSV. Active checks become probes,
 * push monitors keep their push URL.
 */
import {
  readBoolean,
  parseList,
  toList,
  readNumber,
  toFields,
  createSource,
  readTags,
  readText,
  type SourceFields,
  type ImportedMonitor,
} from './imported-monitor.js';
import { buildKumaProbe } from './kuma-probe.js';

const MIN_INTERVAL_SECONDS = 20;
const MAX_INTERVAL_SECONDS = 86_400;
const MIN_TIMEOUT_MS = 100;
const MAX_TIMEOUT_MS = 30_000;
const MAX_RETRIES = 10;
const RETRY_SECONDS = 20;
const MIN_PUSH_GRACE_SECONDS = 60;

const TARGET_FIELDS = ['url', 'hostname', 'port', 'pushToken', 'databaseConnectionString', 'grpcUrl'] as const;

/** @throws NotImportable */
export const parseKumaBackup = (text: string): ImportedMonitor[] =>
  parseList(text, {
    names: ['monitorList', 'monitors'],
    columns: ['name', 'type'],
    what: 'a backup or API export of Uptime Kuma',
  }).map(toImportedMonitor);

export const KUMA_TABLES = ['monitor', 'tag', 'monitor_tag', 'monitor_notification'] as const;

/** @param tables rows of `kuma.db` by table name */
export function parseKumaTables(tables: Readonly<Record<string, readonly SourceFields[]>>): ImportedMonitor[] {
  const tagsOf = groupByMonitor(tables['monitor_tag']);
  const notificationsOf = groupByMonitor(tables['monitor_notification']);
  const names = new Map((tables['tag'] ?? []).map((tag) => [tag['id'], tag['name']]));
  return (tables['monitor'] ?? []).map((row, at) => {
    const tags = (tagsOf.get(row['id']) ?? []).map(({ tag_id, value }) => ({ name: names.get(tag_id), value }));
    const notificationIDList = (notificationsOf.get(row['id']) ?? []).map(({ notification_id }) => notification_id);
    return toImportedMonitor({ ...row, tags, notificationIDList }, at);
  });
}

function groupByMonitor(rows: readonly SourceFields[] = []): Map<unknown, SourceFields[]> {
  const groups = new Map<unknown, SourceFields[]>();
  for (const row of rows) {
    const group = groups.get(row['monitor_id']);
    if (group === undefined) groups.set(row['monitor_id'], [row]);
    else group.push(row);
  }
  return groups;
}

function toApiNames(row: SourceFields): SourceFields {
  const renamed = Object.entries(row).map(([name, value]) => [
    name.replace(/_json$/, '').replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ]);
  const accepted = row['accepted_statuscodes'] ?? row['accepted_statuscodes_json'];
  return { ...(Object.fromEntries(renamed) as SourceFields), ...row, accepted_statuscodes: accepted };
}

function toImportedMonitor(row: SourceFields, at: number): ImportedMonitor {
  const monitor = toApiNames(row);
  const notes: string[] = [];
  const name = readText(monitor, 'name') ?? `monitor ${at + 1}`;
  const type = readText(monitor, 'type') ?? '';
  const parent = readNumber(monitor, 'parent');
  const key = String(readNumber(monitor, 'id') ?? `row ${at}`);
  const active = readBoolean(monitor, 'active') !== false;
  const importedProbe = buildKumaProbe(type, monitor, notes);
  const target = TARGET_FIELDS.flatMap((field) => monitor[field] ?? []);
  if (!active && importedProbe !== null) notes.push('It was paused: no probe was created.');
  if (!active && type === 'push') notes.push('It was paused; here it waits for its first push.');
  notes.push(...collectNotes(monitor));
  return {
    key,
    parent_key: parent === null ? null : String(parent),
    wanted: createSource(name),
    // Two installations may have equal ids.
    identities: [
      `kuma ${key} name ${name}`,
      ...(target.length > 0 ? [`kuma ${key} target ${JSON.stringify([type, ...target])}`] : []),
    ],
    fields: {
      name: name.slice(0, 200),
      description: readText(monitor, 'description')?.slice(0, 5_000) ?? null,
      tags: readTags(toList(monitor['tags']).flatMap(formatTag), notes),
      ...(type === 'push' && parsePushTiming(monitor, notes)),
      ...(type === 'group' && { group: true }),
    },
    ...(type !== 'push' &&
      type !== 'group' && {
        probe: importedProbe !== null && active ? { ...importedProbe, ...parseTiming(monitor, notes) } : null,
      }),
    address: type === 'push' ? readText(monitor, 'pushToken') : null,
    notes,
  };
}

/** `environment`, or with its value `environment:production`. */
function formatTag(given: unknown): string[] {
  const tag = toFields(given);
  const name = tag === null ? null : readText(tag, 'name');
  if (tag === null || name === null) return [];
  const value = readText(tag, 'value');
  return [value === null ? name : `${name}:${value}`];
}

function collectNotes(monitor: SourceFields): string[] {
  const notes: string[] = [];
  const notifications = monitor['notificationIDList'];
  if (toList(notifications).length > 0 || Object.keys(toFields(notifications) ?? {}).length > 0)
    notes.push('Notifications: create channels or webhooks.');
  const resend = readNumber(monitor, 'resendInterval') ?? 0;
  if (resend > 0)
    notes.push(`Its notifications are repeated after ${resend} failures: set \`repeat_minutes\` of a channel.`);
  if ((readNumber(monitor, 'proxyId') ?? 0) > 0) notes.push('Proxy: probes connect directly.');
  if (toList(monitor['conditions']).length > 0) notes.push('Its conditions are not checked.');
  const family = readText(monitor, 'ipFamily');
  if (family !== null) notes.push(`Its ${family.slice(0, 10)} only: a probe tries every address of a name.`);
  if (readBoolean(monitor, 'domainExpiryNotification') === true)
    notes.push('The expiry of its domain is not monitored.');
  if (readBoolean(monitor, 'cacheBust') === true) notes.push('A cache-busting parameter is not added to its URL.');
  return notes;
}

function parsePushTiming(
  monitor: SourceFields,
  notes: string[],
): Pick<ImportedMonitor['fields'], 'period_seconds' | 'grace_seconds'> {
  const period = Math.max(1, readNumber(monitor, 'interval') ?? 60);
  const retries = Math.max(0, readNumber(monitor, 'maxretries') ?? 0);
  const retry = parseRetry(monitor) ?? period;
  if (readBoolean(monitor, 'upsideDown') === true)
    notes.push('It was inverted (a push is a failure): here a push means that it is up.');
  return { period_seconds: period, grace_seconds: Math.max(MIN_PUSH_GRACE_SECONDS, Math.round(retries * retry)) };
}

function parseRetry(monitor: SourceFields): number | null {
  const seconds = readNumber(monitor, 'retryInterval') ?? 0;
  return seconds > 0 ? seconds : null;
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

function parseTiming(monitor: SourceFields, notes: string[]): object {
  const interval = readNumber(monitor, 'interval') ?? 60;
  const interval_seconds = clamp(Math.round(interval), MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS);
  if (interval_seconds !== interval)
    notes.push(`Its interval of ${interval} s: it is probed every ${interval_seconds} s.`);
  const tries = Math.max(0, readNumber(monitor, 'maxretries') ?? 0);
  const retries = clamp(Math.round(tries), 0, MAX_RETRIES);
  if (retries !== tries) notes.push(`Its ${tries} retries: there are ${retries}.`);
  const retryInterval = parseRetry(monitor) ?? RETRY_SECONDS;
  if (retries > 0 && retryInterval !== RETRY_SECONDS)
    notes.push(`Its interval of ${retryInterval} s between retries: they follow after some ${RETRY_SECONDS} s.`);
  const timeout = (readNumber(monitor, 'timeout') ?? 0) * 1_000;
  if (timeout <= 0) return { interval_seconds, retries };
  const timeout_ms = clamp(Math.round(timeout), MIN_TIMEOUT_MS, MAX_TIMEOUT_MS);
  if (timeout_ms !== Math.round(timeout))
    notes.push(`Its time-out of ${timeout / 1_000} s: a probe waits ${timeout_ms / 1_000} s.`);
  return { interval_seconds, retries, timeout_ms };
}
