/**
 * The evaluator's lease covers all of it (interface, scheduled tick; contract 90, tick); exit code
 * 2 while another run holds it.
 */
import type { CommandResult } from '../../kernel/contract/index.js';
import { WATCHDOG, type RunRecord } from '../../ports/domain/watchdog.js';
import type { Jobs } from '../../ports/jobs.js';
import { RELEASE_STORE, type ReleaseStoreState } from '../../ports/domain/releases.js';
import type { OwnCommand } from './composition.js';
import { EXIT_CODES } from './output.js';
import { withService } from './service.js';

const OWN_JOBS: ReadonlySet<string> = new Set(['watchdog.evaluate', 'releases.access']);

interface FailedJob {
  name: string;
  error: string;
}

interface TickExtras {
  failed: FailedJob[];
  store: ReleaseStoreState | null;
}

const getErrorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs every repeating job once, except those running elsewhere. */
async function runJobs(jobs: Pick<Jobs, 'list' | 'runNow'>, signal: AbortSignal): Promise<FailedJob[]> {
  const failed: FailedJob[] = [];
  for (const { name, every_ms, cron } of await jobs.list()) {
    if (signal.aborted) break;
    if (OWN_JOBS.has(name) || (every_ms === null && cron === null)) continue;
    try {
      await jobs.runNow(name);
    } catch (error) {
      failed.push({ name, error: getErrorText(error) });
    }
  }
  return failed;
}

function formatStoreLines(state: ReleaseStoreState | null, quiet: boolean): string[] {
  if (state === null) return [];
  // The first result of a store without packages is not a change worth reporting.
  const isReported = state.changed && !(quiet && state.protection === 'no_packages');
  const lines = isReported ? [`release store: ${state.protection}`] : [];
  if (!quiet && state.regenerated.length > 0) lines.push(`Access files written for ${state.regenerated.join(', ')}.`);
  return lines;
}

function formatLines(run: RunRecord, { failed, store }: TickExtras, quiet: boolean): string[] {
  const changes = run.changes.map(
    ({ source, from, to, suppressed_by }) =>
      `${source}: ${from} -> ${to}${suppressed_by === null ? '' : ` (suppressed by ${suppressed_by})`}`,
  );
  const more = run.to_warning + run.to_down - run.changes.length;
  const lines = [...changes, ...(more > 0 ? [`and ${more} more`] : [])];
  if (run.result !== 'ok') lines.push('the run lost its lease to another run and stopped');
  if (run.errors > 0) lines.push(`${run.errors} monitors could not be evaluated`);
  lines.push(...formatStoreLines(store, quiet));
  lines.push(...failed.map(({ name, error }) => `${name} failed: ${error}`));
  if (!quiet) lines.push(`${run.evaluated} monitors were due, ${run.alarms_emitted} alarms sent.`);
  return lines;
}

export const tickCommand: OwnCommand = {
  name: 'tick',
  summary: 'Run the evaluator and the background work once',
  options: { quiet: { type: 'boolean', summary: 'Print changes and errors only' } },
  run: ({ options }, composition) => {
    const quiet = options['quiet'] === true;
    return withService(composition, {}, async ({ jobs, kernel }): Promise<CommandResult> => {
      const watchdog = kernel.findService(WATCHDOG);
      if (watchdog === undefined) throw new Error('the watchdog plugin is not running: see `aos plugin list`');
      const done = await watchdog.evaluate('cli', async (signal): Promise<TickExtras> => {
        const failed = await runJobs(jobs, signal);
        if (signal.aborted) return { failed, store: null };
        try {
          return { failed, store: (await kernel.findService(RELEASE_STORE)?.run()) ?? null };
        } catch (error) {
          return { failed: [...failed, { name: 'releases.access', error: getErrorText(error) }], store: null };
        }
      });
      if (done === null) {
        return {
          json: { skipped: true },
          text: quiet ? '' : 'Skipped: another run is in progress.',
          exit: EXIT_CODES.skipped,
        };
      }
      const also = done.also ?? { failed: [], store: null };
      const { failed, store } = also;
      return {
        json: { run: done.run, release_store: store, ...(failed.length > 0 && { failed }) },
        text: formatLines(done.run, also, quiet).join('\n'),
        exit: failed.length > 0 || done.run.errors > 0 || done.run.result !== 'ok' ? EXIT_CODES.error : EXIT_CODES.ok,
      };
    });
  },
};
