/** Changes of the stored data of the watchdog, by number. */
import type { Migration, MigrationContext } from '../../kernel/contract.js';
import { all } from '../../lib/paging.js';
import { HOUR_MS } from '../../lib/time.js';
import type { WindowDoc } from './model/window.js';

/** Between the click and the write of its window. */
const CLICK_MS = 10_000;
/** "Until tomorrow, 9:00": of the shortest and the longest. */
const MORNING_HOURS = { min: 9, max: 33 };
const MORNING = /T09:00:00\.000Z$/;

/** Whether the buttons of "Silence" made it: from now for an hour, or until nine the next morning. */
function isSilence({ kind, schedule, from, until, created_at }: WindowDoc): boolean {
  if (kind !== undefined || schedule !== null || from === null || until === null) return false;
  if (Math.abs(Date.parse(created_at) - Date.parse(from)) > CLICK_MS) return false;
  const length = Date.parse(until) - Date.parse(from);
  if (length > HOUR_MS - CLICK_MS && length <= HOUR_MS) return true;
  const { min, max } = MORNING_HOURS;
  return MORNING.test(until) && length >= min * HOUR_MS && length <= max * HOUR_MS;
}

/**
 * "Silence" made maintenance windows, which showed planned work. Their monitors follow with the evaluator's next run.
 */
async function convertWindowsToSilences(ctx: MigrationContext): Promise<void> {
  const windows = ctx.collection<WindowDoc>('windows');
  const found = (await all(windows, { limit: 500 })).filter(isSilence);
  for (const { id } of found) await windows.change({ id }, { set: { kind: 'silence' } });
}

export const MIGRATIONS: readonly Migration[] = [{ number: 1, name: 'silences', run: convertWindowsToSilences }];
