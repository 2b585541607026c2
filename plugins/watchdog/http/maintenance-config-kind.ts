/**
 * Maintenance windows in a configuration document (contract 97, apply). The reason names a window.
 */
import { normalizeTime } from '../../../lib/time.js';
import type { ConfigFields, ConfigKind, ConfigReference } from '../../../ports/domain/config/kinds.js';
import type { Principal } from '../../../ports/http/index.js';
import type { NewMaintenanceWindow } from '../maintenance/window-service.js';
import { toWatchdogCaller } from '../model/caller.js';
import type { WatchdogServices } from '../services.js';
import { windowBody } from './maintenance-routes.js';

type WindowKindServices = Pick<WatchdogServices, 'windows' | 'evaluator' | 'audit' | 'clock'>;

function normalizeTimes(fields: ConfigFields): ConfigFields {
  const { from, until } = fields as NewMaintenanceWindow;
  return {
    ...fields,
    ...(from && { from: normalizeTime(from) ?? from }),
    ...(until && { until: normalizeTime(until) ?? until }),
  };
}

function listMonitorReferences({ sources = [], subtree = null }: NewMaintenanceWindow): ConfigReference[] {
  const named = sources.map((name) => ({ field: 'sources', kind: 'monitors', name }));
  return subtree === null ? named : [...named, { field: 'subtree', kind: 'monitors', name: subtree }];
}

export function createMaintenanceKind({ windows, evaluator, audit, clock }: WindowKindServices): ConfigKind {
  const create = async (principal: Principal, given: NewMaintenanceWindow): Promise<void> => {
    const made = await windows.create(given, toWatchdogCaller(principal));
    await audit.record(principal, 'maintenance.created', made.id, { reason: made.reason ?? '' });
  };
  const end = async (principal: Principal, id: string): Promise<void> => {
    const ended = await windows.remove(id, toWatchdogCaller(principal));
    await audit.record(principal, 'maintenance.ended', ended.id, { reason: ended.reason ?? '' });
    await evaluator.evaluate('http');
  };
  return {
    kind: 'maintenance',
    order: 30,
    schema: windowBody,
    nameFields: ['reason'],
    getName: ({ reason }) => String(reason),
    listReferences: (fields) => listMonitorReferences(fields),
    list: async (principal) =>
      (await windows.list(toWatchdogCaller(principal))).map(({ id, managed, ...window }) => ({
        id,
        name: window.reason ?? id,
        managed: managed === true,
        fields: { ...window, timezone: window.schedule === null ? null : window.timezone },
      })),
    normalize: async (_principal, fields, before) => {
      const window = normalizeTimes(fields);
      const { sources, until } = window as NewMaintenanceWindow;
      if (before === null && until && until <= clock.iso()) return null;
      windows.check(window);
      return { ...window, ...(sources && { sources: [...new Set(sources)] }) };
    },
    create: async (principal, fields) => {
      await create(principal, { ...fields, managed: true });
      return [];
    },
    // Windows cannot be changed. The new one is open before the old one ends.
    update: async (principal, { id, managed, fields }, _changed, whole) => {
      const { from = null } = fields as NewMaintenanceWindow;
      const isPlanned =
        whole['from'] === undefined && whole['schedule'] === undefined && from !== null && from > clock.iso();
      await create(principal, { ...whole, ...(isPlanned && { from }), ...(managed && { managed: true as const }) });
      await end(principal, id);
    },
    delete: (principal, { id }) => end(principal, id),
  };
}
