/**
 * `aos tick`: one round of the background work, for machines where a scheduler calls it instead of `serve` doing it by
 * itself. The lock covers the whole tick; exit 2 when another one is under way (interface, scheduled tick).
 */
import type { CommandSpec } from '../kernel/contract.js';
import { EXIT } from './output.js';
import { withService } from './service.js';

const TICK = 'kernel.tick';
/** After this long a killed tick's lock is free. */
const LOCK_MS = 45_000;

export const tick: CommandSpec = {
  name: 'tick',
  summary: 'Run the background work once.',
  options: { quiet: { type: 'boolean', summary: 'Print only changes and errors.' } },
  run: ({ options }) => {
    const quiet = options['quiet'] === true;
    return withService({}, async ({ jobs }) => {
      const ran: { name: string; ok: boolean; skipped: boolean; error?: string }[] = [];
      jobs.define({
        name: TICK,
        timeoutMs: LOCK_MS,
        async run({ signal }) {
          for (const { name, every_ms, cron } of await jobs.list()) {
            if (signal.aborted) return;
            if (name === TICK || (every_ms === null && cron === null)) continue;
            try {
              ran.push({ name, ok: true, skipped: !(await jobs.runNow(name)) });
            } catch (error) {
              ran.push({ name, ok: false, skipped: false, error: (error as Error).message });
            }
          }
        },
      });
      if (!(await jobs.runNow(TICK))) {
        return { json: { skipped: true }, text: quiet ? '' : 'Skipped: another tick is running.', exit: EXIT.skipped };
      }
      const failed = ran.filter((job) => !job.ok);
      const lines = failed.map((job) => `${job.name} failed: ${job.error}`);
      if (!quiet) lines.push(`${ran.length - failed.length} of ${ran.length} jobs ran.`);
      return {
        json: { run: null, release_store: null, jobs: ran },
        text: lines.join('\n'),
        exit: failed.length > 0 ? EXIT.error : EXIT.ok,
      };
    });
  },
};
