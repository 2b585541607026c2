import type { PluginState, ServiceRuntime, UnlistedProxy } from '../../ports/domain/system.js';
import type { Processes } from '../../ports/processes.js';
import type { DocumentStore } from '../../ports/store/index.js';
import type { ClockTrust } from './clock-trust.js';
import { getFaultReason } from '../faults.js';
import type { PluginRun } from '../plugin-run.js';
import { runWithTimeout } from '../timeout.js';

const HEALTH_TIMEOUT_MS = 5_000;

/** Without process information, no other process counts as gone. */
const SINGLE_PROCESS: Processes = {
  getSelf: () => Promise.resolve({ host: 'localhost', pid: process.pid, started: null }),
  isDead: () => Promise.resolve(false),
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
    processes = SINGLE_PROCESS,
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
    listPlugins: () => [...runs.map((run) => run.describe()), ...absent],
    checkHealth: async () =>
      Object.fromEntries([
        ...(await Promise.all(runs.map(async (run) => [run.id, await readHealth(run)] as const))),
        ...absent.flatMap(({ id, state, reason }) => (state === 'failed' ? [[id, { ok: false, error: reason }]] : [])),
      ]),
    pingStore: () => store.ping(),
    getStoreBytes: () => store.getSize(),
    canExamineStore: store.examine !== undefined,
    examineStore: async (signal) => (await store.examine?.(signal)) ?? null,
    listDamage: () => store.listDamage?.() ?? [],
    getFreeBytes: () => freeBytes(),
    listUnlistedProxies: () => unlistedProxies(),
    countProcesses: () => peers(),
    checkClock: () => trust.check(),
  };
}

async function readHealth(run: PluginRun): Promise<{ ok: boolean; [detail: string]: unknown }> {
  if (!run.isReady()) return { ok: false, error: run.reason ?? run.state };
  try {
    return (await runWithTimeout(HEALTH_TIMEOUT_MS, 'health', async () => run.parts.health?.())) ?? { ok: true };
  } catch (error) {
    return { ok: false, error: getFaultReason(error) };
  }
}
