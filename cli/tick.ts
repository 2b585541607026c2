/**
 * `aos tick`: one round of the background work, for machines where a scheduler calls it instead of `serve` doing it by
 * itself (interface, scheduled tick; contract 90, tick). The evaluator's lease covers the whole of it; exit 2 while
 * another run holds that. Each other job runs under its own lock, so the tick works beside a server.
 */
import type { CommandResult, CommandSpec } from '../kernel/contract.js';
import { WATCHDOG, type RunRecord } from '../ports/domain/watchdog.js';
import type { Jobs } from '../ports/jobs.js';
import { EXIT } from './output.js';
import { withService } from './service.js';

/** The evaluator's job: the tick runs the evaluator itself. */
const EVALUATE = 'watchdog.evaluate';

interface Failed {
  name: string;
  error: string;
}

/** Every repeating job once; one that runs elsewhere is left to it. Answers those that failed. */
async function runJobs(jobs: Pick<Jobs, 'list' | 'runNow'>, signal: AbortSignal): Promise<Failed[]> {
  const failed: Failed[] = [];
  for (const { name, every_ms, cron } of await jobs.list()) {
    if (signal.aborted) break;
    if (name === EVALUATE || (every_ms === null && cron === null)) continue;
    try {
      await jobs.runNow(name);
    } catch (error) {
      failed.push({ name, error: error instanceof Error ? error.message : String(error) });
    }
  }
  return failed;
}

function linesOf(run: RunRecord, failed: readonly Failed[], quiet: boolean): string[] {
  const changes = run.changes.map(
    ({ source, from, to, suppressed_by }) =>
      `${source}: ${from} -> ${to}${suppressed_by === null ? '' : ` (suppressed by ${suppressed_by})`}`,
  );
  const more = run.to_warning + run.to_down - run.changes.length;
  const lines = [...changes, ...(more > 0 ? [`and ${more} more`] : [])];
  if (run.result !== 'ok') lines.push('the run lost its lease to another one and stopped');
  if (run.errors > 0) lines.push(`${run.errors} monitors could not be evaluated`);
  lines.push(...failed.map(({ name, error }) => `${name} failed: ${error}`));
  if (!quiet) lines.push(`${run.evaluated} monitors were due, ${run.alarms_emitted} alarms sent.`);
  return lines;
}

export const tick: CommandSpec = {
  name: 'tick',
  summary: 'Run the evaluator and the background work once.',
  options: { quiet: { type: 'boolean', summary: 'Print only changes and errors.' } },
  run: ({ options }) => {
    const quiet = options['quiet'] === true;
    return withService({}, async ({ jobs, kernel }): Promise<CommandResult> => {
      const watchdog = kernel.service(WATCHDOG);
      if (watchdog === undefined) throw new Error('the watchdog is not there: see `aos plugin list`');
      const done = await watchdog.evaluate('cli', (signal) => runJobs(jobs, signal));
      if (done === null) {
        return { json: { skipped: true }, text: quiet ? '' : 'Skipped: another run is under way.', exit: EXIT.skipped };
      }
      const failed = done.also ?? [];
      return {
        json: { run: done.run, release_store: null, ...(failed.length > 0 && { failed }) },
        text: linesOf(done.run, failed, quiet).join('\n'),
        exit: failed.length > 0 || done.run.errors > 0 || done.run.result !== 'ok' ? EXIT.error : EXIT.ok,
      };
    });
  },
};
