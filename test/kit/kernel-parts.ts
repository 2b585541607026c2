/**
 * Parts of an in-memory kernel: fakes for every port, so that nothing sleeps, listens or leaves the
 * process.
 */
import { MemoryInstallers } from '../../adapters/memory/installers.js';
import { MemoryManual } from '../../adapters/memory/manual.js';
import { MemoryReleaseStore } from '../../adapters/memory/release-store.js';
import { createMemorySigners } from '../../adapters/memory/signers.js';
import { MemoryStore } from '../../adapters/memory/store.js';
import { NO_BACKUPS } from '../../ports/store/backups.js';
import type { AppSettings } from '../../kernel/contract/index.js';
import type { KernelParts } from '../../kernel/kernel-parts.js';
import { ManualClock } from './clock.js';
import {
  fakeCipher,
  FakeHttp,
  fakeHasher,
  FakeIds,
  FakeJobs,
  fakeMetrics,
  fakeOutbound,
  fakeReach,
  fakeSourceMaps,
  fakeYamlParser,
  RecordingLog,
} from './fakes.js';

export const APP_SETTINGS: AppSettings = {
  version: '0.0.0-test',
  base_url: 'http://127.0.0.1:8080',
  timezone: 'UTC',
  debug: false,
  shared_key: '',
  webhook_key: '',
  limits: {},
  grouping: {},
};

export interface FakePorts {
  clock: ManualClock;
  ids: FakeIds;
  log: RecordingLog;
  http: FakeHttp;
  jobs: FakeJobs;
}

export const createFakes = (): FakePorts => ({
  clock: new ManualClock(),
  ids: new FakeIds(),
  log: new RecordingLog(),
  http: new FakeHttp(),
  jobs: new FakeJobs(),
});

/** Builds the parts of a kernel without plugins, which the caller may override. */
export function buildKernelParts(given: FakePorts, app: Partial<AppSettings> = {}): KernelParts {
  return {
    ...given,
    config: {
      app: { ...APP_SETTINGS, ...app },
      auto_migrate: true,
      plugin_timeout_ms: 5_000,
      sections: {},
      origin: () => 'the test',
    },
    store: new MemoryStore(),
    hasher: fakeHasher,
    cipher: fakeCipher,
    outbound: fakeOutbound,
    reach: fakeReach,
    metrics: fakeMetrics,
    releaseStore: new MemoryReleaseStore(),
    installers: new MemoryInstallers(),
    manual: new MemoryManual(),
    signers: createMemorySigners(),
    backups: NO_BACKUPS,
    sourceMaps: fakeSourceMaps,
    yaml: fakeYamlParser,
    builtin: [],
    plugins: [],
    bases: ['.'],
    freeBytes: async () => 1_000_000_000,
  };
}
