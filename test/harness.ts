/**
 * Boots the real kernel with the plugins of a test, the memory store and fakes for every other port. No port is opened
 * and no job runs by itself: `jobs.runNow(name)` runs one, `http.mounted` holds the routes.
 *
 *   const service = await boot([plugin], { sections: { chat: { … } } });
 *   after(() => service.stop());
 */
import { MemoryStore } from '../adapters/memory/store.js';
import type { AppSettings, Plugin } from '../kernel/contract.js';
import { Kernel, type BootOptions, type KernelParts, type Mode } from '../kernel/kernel.js';
import type { DocumentStore } from '../ports/store.js';
import { ManualClock } from '../testing/clock.js';
import {
  fakeCipher,
  fakeHasher,
  FakeHttp,
  FakeIds,
  FakeJobs,
  fakeMetrics,
  fakeOutbound,
  RecordingLog,
} from '../testing/fakes.js';

export interface HarnessOptions {
  mode?: Mode;
  boot?: BootOptions;
  store?: DocumentStore;
  /** Sections of the configuration, by plugin. */
  sections?: Record<string, unknown>;
  /** Entries of `plugins`, relative to `bases`. */
  plugins?: readonly string[];
  bases?: readonly string[];
  plugin_timeout_ms?: number;
  auto_migrate?: boolean;
  app?: Partial<AppSettings>;
  /** Replaces single parts of the kernel. */
  parts?: Partial<KernelParts>;
}

export interface Harness {
  kernel: Kernel;
  store: DocumentStore;
  clock: ManualClock;
  ids: FakeIds;
  log: RecordingLog;
  http: FakeHttp;
  jobs: FakeJobs;
  stop(): Promise<void>;
}

export const APP: AppSettings = {
  version: '0.0.0-test',
  base_url: 'http://127.0.0.1:8080',
  timezone: 'UTC',
  debug: false,
  shared_key: '',
  webhook_key: '',
  limits: {},
  grouping: {},
};

/** A kernel that has not been booted yet. */
export function harness(builtin: readonly Plugin[], options: HarnessOptions = {}): Harness {
  const store = options.store ?? new MemoryStore();
  const clock = new ManualClock();
  const ids = new FakeIds();
  const log = new RecordingLog();
  const http = new FakeHttp();
  const jobs = new FakeJobs();
  const kernel = new Kernel({
    config: {
      app: { ...APP, ...options.app },
      auto_migrate: options.auto_migrate ?? true,
      plugin_timeout_ms: options.plugin_timeout_ms ?? 5_000,
      sections: options.sections ?? {},
      origin: () => 'the test',
    },
    store,
    http,
    jobs,
    clock,
    ids,
    log,
    hasher: fakeHasher,
    cipher: fakeCipher,
    outbound: fakeOutbound,
    metrics: fakeMetrics,
    builtin,
    plugins: options.plugins ?? [],
    bases: options.bases ?? ['.'],
    freeBytes: async () => 1_000_000,
    ...options.parts,
  });
  return { kernel, store, clock, ids, log, http, jobs, stop: () => kernel.stop() };
}

export async function boot(builtin: readonly Plugin[], options: HarnessOptions = {}): Promise<Harness> {
  const made = harness(builtin, options);
  await made.kernel.boot(options.mode ?? 'serve', options.boot ?? {});
  return made;
}

/** What `promise` is rejected with. @throws when it is not */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${String(error)}, which is no Error`, { cause: error });
  }
  throw new Error('was not rejected');
}

/** Resolves when `condition` holds; asks again every few milliseconds. @throws after `ms` */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = 5_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
