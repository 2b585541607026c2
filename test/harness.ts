/**
 * Boots the real kernel with a test's plugins, the memory store and fakes of all other ports. No
 * port is opened and no job runs by itself: `jobs.runNow(name)` runs one, `http.mounted` holds the
 * routes.
 */
import type { AppSettings, Plugin } from '../kernel/contract/index.js';
import { Kernel, type KernelBootOptions, type KernelParts, type KernelMode } from '../kernel/kernel.js';
import type { DocumentStore } from '../ports/store/index.js';
import { createFakes, buildKernelParts, type FakePorts } from './kit/kernel-parts.js';
import { withTimeout } from './support/timeout.js';

export { APP_SETTINGS } from './kit/kernel-parts.js';

export interface HarnessOptions {
  mode?: KernelMode;
  boot?: KernelBootOptions;
  store?: DocumentStore;
  /** Sections of the configuration, by plugin. */
  sections?: Record<string, unknown>;
  /** Entries of `plugins`, relative to `bases`. */
  plugins?: readonly string[];
  bases?: readonly string[];
  plugin_timeout_ms?: number;
  auto_migrate?: boolean;
  app?: Partial<AppSettings>;
  parts?: Partial<KernelParts>;
}

export interface TestKernel extends FakePorts {
  kernel: Kernel;
  store: DocumentStore;
  stop(): Promise<void>;
}

const validatedSets = new Set<string>();
const pluginNumbers = new WeakMap<Plugin, number>();
let pluginCount = 0;

/**
 * Returns whether this set was validated before, and marks it. Validating all views and sources is
 * slower than the rest of a start.
 */
export function markValidated(set: readonly Plugin[], by: 'fakes' | 'web server' = 'fakes'): boolean {
  for (const plugin of set) if (!pluginNumbers.has(plugin)) pluginNumbers.set(plugin, ++pluginCount);
  const key = `${by} ${set.map((plugin) => pluginNumbers.get(plugin)).join()}`;
  const before = validatedSets.has(key);
  validatedSets.add(key);
  return before;
}

export function createTestKernel(builtin: readonly Plugin[], options: HarnessOptions = {}): TestKernel {
  const own = createFakes();
  const parts = buildKernelParts(own, options.app);
  const store = options.store ?? parts.store;
  const { auto_migrate, plugin_timeout_ms, sections } = options;
  const kernel = new Kernel({
    ...parts,
    config: {
      ...parts.config,
      ...(auto_migrate !== undefined && { auto_migrate }),
      ...(plugin_timeout_ms !== undefined && { plugin_timeout_ms }),
      ...(sections !== undefined && { sections }),
    },
    store,
    builtin,
    plugins: options.plugins ?? [],
    bases: options.bases ?? ['.'],
    builtinTested: markValidated(builtin),
    ...options.parts,
  });
  return { ...own, kernel, store, stop: () => kernel.stop() };
}

export async function bootTestKernel(builtin: readonly Plugin[], options: HarnessOptions = {}): Promise<TestKernel> {
  const made = createTestKernel(builtin, options);
  await made.kernel.boot(options.mode ?? 'serve', options.boot ?? {});
  return made;
}

/**
 * Returns the error that `promise` rejects with.
 * @throws when it resolves
 */
export async function getRejection(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`rejected with ${String(error)}, which is no Error`, { cause: error });
  }
  throw new Error('was not rejected');
}

/** Timeout of a condition that itself waits for a response. */
const RESPONSE_TIMEOUT_MS = 60_000;
const WAIT_TIMEOUT_MS = 60_000;

/**
 * Polls until `condition` holds, with increasing intervals, because what it waits for may need the
 * processor.
 * @throws after `ms`
 */
export async function waitUntil(
  what: string,
  condition: () => boolean | Promise<boolean>,
  ms = WAIT_TIMEOUT_MS,
): Promise<void> {
  const began = Date.now();
  while (!(await withTimeout(what, ms + RESPONSE_TIMEOUT_MS, Promise.resolve(condition())))) {
    const waited = Date.now() - began;
    if (waited > ms) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, Math.max(5, waited / 20))));
  }
}
