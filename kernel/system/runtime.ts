import type { PluginState, ServiceRuntime, UnlistedProxy } from '../../ports/domain/system.js';
import type { Processes } from '../../ports/processes.js';
import type { DocumentStore } from '../../ports/store.js';
import type { ClockTrust } from './clock-trust.js';
import { getFaultReason } from '../faults.js';
import type { PluginRun } from '../plugin-run.js';
import { within } from '../timeout.js';

const HEALTH_MS = 5_000;

/** Without process information, no other process counts as gone. */
const ALONE: Processes = {
  self: () => Promise.resolve({ host: 'localhost', pid: process.pid, started: null }),
  dead: () => Promise.resolve(false),
};

export interface RuntimeParts {
  version: string;
  started_at: string;
  store: DocumentStore;
  runs: readonly PluginRun[];
  absent: readonly PluginState[];
  processes: Processes | undefined;
  freeBytes: () => Promise<number>;
  unlistedProxies: () => readonly UnlistedProxy[];
  peers: () => number;
  trust: Pick<ClockTrust, 'check'>;
}

export function createRuntime(parts: RuntimeParts): ServiceRuntime {
  const {
    version,
    started_at,
    store,
    runs,
    absent,
    processes = ALONE,
    freeBytes,
    unlistedProxies,
    peers,
    trust,
  } = parts;
  return {
    version,
    node: process.version,
    started_at,
    engine: store.engine,
    processes,
    plugins: () => [...runs.map((run) => run.describe()), ...absent],
    health: async () =>
      Object.fromEntries([
        ...(await Promise.all(runs.map(async (run) => [run.id, await readHealth(run)] as const))),
        ...absent.flatMap(({ id, state, reason }) => (state === 'failed' ? [[id, { ok: false, error: reason }]] : [])),
      ]),
    pingStore: () => store.ping(),
    storeBytes: () => store.size(),
    examinesStore: store.examine !== undefined,
    examineStore: async (signal) => (await store.examine?.(signal)) ?? null,
    metDamage: () => store.damage?.() ?? [],
    freeBytes: () => freeBytes(),
    unlistedProxies: () => unlistedProxies(),
    peers: () => peers(),
    clock: () => trust.check(),
  };
}

async function readHealth(run: PluginRun): Promise<{ ok: boolean; [detail: string]: unknown }> {
  if (!run.ready()) return { ok: false, error: run.reason ?? run.state };
  try {
    return (await within(HEALTH_MS, 'health', async () => run.parts.health?.())) ?? { ok: true };
  } catch (error) {
    return { ok: false, error: getFaultReason(error) };
  }
}
