/** Monitors with their probes in a configuration document (contract 97, apply). */
import { findChangedFields } from '../../../lib/changed-fields.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import { collectAll } from '../../../lib/paging.js';
import { invalid } from '../../../kernel/errors.js';
import { listProjectReferences, type ConfigFields, type ConfigKind } from '../../../ports/domain/config/kinds.js';
import type { MonitorFields } from '../../../ports/domain/watchdog.js';
import type { WatchdogDeps } from '../deps.js';
import { monitorBody } from './monitor-bodies.js';
import { toWatchdogCaller } from '../model/caller.js';
import { toMonitorView } from '../model/monitor-view.js';
import type { WatchdogServices } from '../services.js';
import type { ProbeInput } from '../monitors/probed-monitor-service.js';
import { validateTiming } from '../monitors/timing-fields.js';

type MonitorKindServices = Pick<WatchdogServices, 'probed' | 'probes' | 'audit'>;

const cleanTexts = (fields: ConfigFields): ConfigFields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? cleanText(value) : value]),
  );

export const createMonitorKind = (
  { probed, probes, audit }: MonitorKindServices,
  { monitors }: Pick<WatchdogDeps, 'monitors'>,
): ConfigKind => ({
  kind: 'monitors',
  order: 20,
  schema: monitorBody,
  nameFields: ['source'],
  getName: ({ source }) => String(source),
  listSecrets: () => ['probe.headers'],
  listReferences: (fields) => listProjectReferences(fields, 'project'),
  list: async (principal) => {
    const { project } = toWatchdogCaller(principal);
    const filter = { deleted_at: null, ...(project !== null && { project }) };
    const docs = await collectAll(monitors, { filter, sort: [['source', 'asc']], limit: 500 });
    const found = [];
    for (const doc of docs) {
      const probe = (await probes()?.findWithSecrets(doc.source)) ?? null;
      const { source, managed } = doc;
      found.push({ id: source, name: source, managed: managed === true, fields: { ...toMonitorView(doc), probe } });
    }
    return found;
  },
  normalize: async (_principal, given, before) => {
    const fields = given as unknown as MonitorFields & ProbeInput;
    validateTiming(fields, before && before.fields);
    const { probe, name } = fields;
    const texts = { ...cleanTexts(given), ...(name !== undefined && { name: cleanText(name ?? '') || fields.source }) };
    if (probe === undefined || probe === null) return texts;
    const service = probes();
    if (service === null) throw invalid({ probe: 'is not supported: the plugin probes is disabled' });
    const [unknown] = service.listUnknownFields(probe);
    if (unknown !== undefined) throw invalid({ probe: unknown });
    const whole = service.normalize(probe);
    const known = (before?.fields['probe'] ?? null) as ConfigFields | null;
    // Absent headers stay as they are.
    const headers = 'headers' in whole || known?.['headers'] === undefined ? {} : { headers: known['headers'] };
    return { ...texts, probe: { ...whole, ...headers } };
  },
  create: async (principal, given) => {
    const fields = { ...(given as unknown as MonitorFields & ProbeInput), managed: true } as const;
    const { source } = await probed.create(fields, toWatchdogCaller(principal));
    await audit.record(principal, 'monitor.created', source);
    return [];
  },
  update: async (principal, { id, fields: before }, changed) => {
    const view = await probed.update(id, changed, toWatchdogCaller(principal));
    const change = findChangedFields(before, view, Object.keys(changed), ['probe']);
    await audit.record(principal, 'monitor.changed', id, {}, change);
  },
  delete: async (principal, { id }) => {
    const source = await probed.remove(id, toWatchdogCaller(principal));
    await audit.record(principal, 'monitor.deleted', source);
  },
});
