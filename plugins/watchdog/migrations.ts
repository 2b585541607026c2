import type { Migration, MigrationContext } from '../../kernel/contract/index.js';
import { collectAll } from '../../lib/paging.js';
import { HOUR_MS } from '../../lib/time.js';
import type { WindowDoc } from './model/maintenance-window.js';

const MAX_CLICK_DELAY_MS = 10_000;
const MORNING_HOURS = { min: 9, max: 33 };
const MORNING_PATTERN = /T09:00:00\.000Z$/;

/** From now for an hour, or until nine the next morning. */
function isSilence({ kind, schedule, from, until, created_at }: WindowDoc): boolean {
  if (kind !== undefined || schedule !== null || from === null || until === null) return false;
  if (Math.abs(Date.parse(created_at) - Date.parse(from)) > MAX_CLICK_DELAY_MS) return false;
  const length = Date.parse(until) - Date.parse(from);
  if (length > HOUR_MS - MAX_CLICK_DELAY_MS && length <= HOUR_MS) return true;
  const { min, max } = MORNING_HOURS;
  return MORNING_PATTERN.test(until) && length >= min * HOUR_MS && length <= max * HOUR_MS;
}

/** The next evaluator run updates their monitors. */
async function convertWindowsToSilences(ctx: MigrationContext): Promise<void> {
  const windows = ctx.collection<WindowDoc>('windows');
  const found = (await collectAll(windows, { limit: 500 })).filter(isSilence);
  for (const { id } of found) await windows.change({ id }, { set: { kind: 'silence' } });
}

export const MIGRATIONS: readonly Migration[] = [{ number: 1, name: 'silences', run: convertWindowsToSilences }];
