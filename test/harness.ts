/**
 * Boots the real kernel with the plugins of a test, the memory store and fakes for every other port. No port is opened
 * and no job runs by itself: `jobs.runNow(name)` runs one, `http.mounted` holds the routes.
 *
 *   const service = await boot([plugin], { sections: { chat: { … } } });
 *   after(() => service.stop());
 */
import type { AppSettings, Plugin } from '../kernel/contract.js';
import { Kernel, type KernelBootOptions, type KernelParts, type Mode } from '../kernel/kernel.js';
import type { DocumentStore } from '../ports/store.js';
import { fakes, kernelParts, type Fakes } from './kit/parts.js';
import { within } from './support/within.js';

export { APP } from './kit/parts.js';

export interface HarnessOptions {
  mode?: Mode;
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
  /** Replaces single parts of the kernel. */
  parts?: Partial<KernelParts>;
}

export interface Harness extends Fakes {
  kernel: Kernel;
  store: DocumentStore;
  stop(): Promise<void>;
}

/** Sets of plugins whose views and sources were judged in this process, each plugin by a number of its own. */
const judged = new Set<string>();
const numbers = new WeakMap<Plugin, number>();
let numbered = 0;

/**
 * Whether this set was judged before; the next time it will have been. To read and judge all views and sources costs more
 * than the rest of a start.
 */
export function wereJudged(set: readonly Plugin[], by: 'fakes' | 'web server' = 'fakes'): boolean {
  for (const plugin of set) if (!numbers.has(plugin)) numbers.set(plugin, ++numbered);
  const key = `${by} ${set.map((plugin) => numbers.get(plugin)).join()}`;
  const before = judged.has(key);
  judged.add(key);
  return before;
}

/** A kernel that has not been booted yet. */
export function harness(builtin: readonly Plugin[], options: HarnessOptions = {}): Harness {
  const own = fakes();
  const parts = kernelParts(own, options.app);
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
    builtinTested: wereJudged(builtin),
    ...options.parts,
  });
  return { ...own, kernel, store, stop: () => kernel.stop() };
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

/** For a condition that itself waits for an answer. */
const UNANSWERED_MS = 60_000;
/** Only what hangs reaches it: the machine may be busy. */
const HANG_MS = 60_000;

/**
 * Resolves when `condition` holds; asks again every few milliseconds, and less often the longer it takes: what is waited
 * for may need the processor. @throws after `ms`
 */
export async function until(what: string, condition: () => boolean | Promise<boolean>, ms = HANG_MS): Promise<void> {
  const began = Date.now();
  while (!(await within(what, ms + UNANSWERED_MS, Promise.resolve(condition())))) {
    const waited = Date.now() - began;
    if (waited > ms) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, Math.max(5, waited / 20))));
  }
}
