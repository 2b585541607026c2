/**
 * A plugin's context without the plugin's `setup`: for tests of one class or function that takes
 * it, or a part of it.
 *
 * const ctx = await contextFor<Config>(plugin, { config: { room: 'ops' } }); const notes = new
 * Notes(ctx.collection('notes'), ctx.clock);
 */
import type { AppSettings, Plugin, PluginContext } from '../../kernel/contract/index.js';
import { getFullJobName } from '../../kernel/contributions/job-faults.js';
import { Kernel } from '../../kernel/kernel.js';
import type { DomainEvent } from '../../ports/events.js';
import type { EnqueueOptions } from '../../ports/jobs.js';
import type { ManualClock } from './clock.js';
import type { EnqueuedJob, RecordingLog } from './fakes.js';
import { createFakes, buildKernelParts } from './kernel-parts.js';

export interface ContextOptions {
  /** The plugin's section of the configuration; its schema adds the defaults. */
  config?: unknown;
  app?: Partial<AppSettings>;
  /** Plugins that provide this plugin's dependencies: `stub(TOKEN, …)`. */
  stubs?: readonly Plugin[];
}

export interface TestContext<C = Record<string, unknown>> extends Omit<PluginContext<C>, 'clock' | 'log'> {
  clock: ManualClock;
  log: RecordingLog;
  /** All emitted events, oldest first. */
  emitted: readonly DomainEvent[];
  /** All enqueued jobs, by full name. */
  enqueued: readonly EnqueuedJob[];
}

/**
 * Creates a context with the plugin's collections and indexes, after its migrations. Undeclared use
 * is rejected.
 * @throws Error when the manifest or the configuration is invalid
 */
export async function contextFor<C = Record<string, unknown>>(
  plugin: Plugin,
  { config, app, stubs = [] }: ContextOptions = {},
): Promise<TestContext<C>> {
  const own = createFakes();
  const parts = buildKernelParts(own, app);
  let found: PluginContext | undefined;
  const inside: Plugin = {
    ...plugin,
    setup: (ctx) => {
      found = ctx;
      return { services: Object.fromEntries((plugin.provides ?? []).map((name) => [name, {}])) };
    },
  };
  const sections = config === undefined ? {} : { [plugin.id]: config };
  const kernel = new Kernel({ ...parts, config: { ...parts.config, sections }, builtin: [...stubs, inside] });
  const emitted: DomainEvent[] = [];
  kernel.events.on('test', { event: '*', handle: (event) => void emitted.push(event) });
  await kernel.boot('command');
  if (found === undefined) {
    const failed = kernel.system
      .listPlugins()
      .flatMap(({ id, reason }) => (reason === null ? [] : [`plugin ${id}: ${reason}`]));
    throw new Error(failed.join('\n'));
  }
  const ctx = found as unknown as PluginContext<C>;
  const full = (name: string): string => getFullJobName(plugin.id, name);
  return Object.assign(ctx, {
    // `setup` did not run, so the plugin defines no jobs that a name could be checked against.
    ports: {
      ...ctx.ports,
      jobs: {
        enqueue: (name: string, data?: unknown, given?: EnqueueOptions) => own.jobs.enqueue(full(name), data, given),
        runNow: (name: string, data?: unknown) => own.jobs.runNow(full(name), data),
        list: () => own.jobs.list(),
      },
    },
    clock: own.clock,
    log: own.log,
    emitted,
    enqueued: own.jobs.enqueued,
  });
}
