/**
 * Each compares `rev`, and a failed one does not affect the others. The next batch is built during
 * a write.
 */
import type { Logger } from '../../ports/logger.js';
import type { Collection, WriteOp } from '../../ports/store/index.js';
import type { MonitorDoc } from './model/documents.js';
import { getNextCheck } from './model/timing.js';
import type { MonitorChangeSet } from './model/monitor-change-set.js';
import { yieldToEventLoop } from '../../lib/process/event-loop.js';

const BATCH_SIZE = 125;

export interface PendingWrite {
  changeSet: MonitorChangeSet;
  /** Since the last heartbeat, in ms. */
  credit?: number;
}

interface ReadyWrite {
  changeSet: MonitorChangeSet;
  op: WriteOp<MonitorDoc>;
}

/** @returns the written ones; the others conflicted or failed */
export async function writeChangeSets(
  monitors: Collection<MonitorDoc>,
  pending: Iterable<PendingWrite>,
  log: Logger,
): Promise<{ won: MonitorChangeSet[]; errors: number }> {
  const won: MonitorChangeSet[] = [];
  const failed = (changeSet: MonitorChangeSet, err: unknown): void =>
    log.error({ err, monitor: changeSet.before.id }, 'a monitor could not be evaluated');
  let errors = 0;
  const written: Promise<number>[] = [];
  let ready: ReadyWrite[] = [];
  const send = async (): Promise<void> => {
    written.push(writeBatch(monitors, ready, won, failed));
    ready = [];
    await yieldToEventLoop();
  };
  for (const { changeSet, credit } of pending) {
    const { id, rev } = changeSet.before;
    try {
      const update = changeSet.toUpdate(getNextCheck(changeSet.next, credit));
      ready.push({ changeSet, op: { change: { id, rev }, update } });
    } catch (error) {
      errors++;
      failed(changeSet, error);
    }
    if (ready.length === BATCH_SIZE) await send();
  }
  if (ready.length > 0) await send();
  for (const n of await Promise.all(written)) errors += n;
  return { won, errors };
}

/** One by one when the store rejects the batch. Returns how many failed. */
async function writeBatch(
  monitors: Collection<MonitorDoc>,
  ready: readonly ReadyWrite[],
  won: MonitorChangeSet[],
  failed: (changeSet: MonitorChangeSet, error: unknown) => void,
): Promise<number> {
  try {
    const results = await monitors.bulk(ready.map(({ op }) => op));
    for (const [n, { changeSet }] of ready.entries()) {
      const result = results[n];
      if (result && 'n' in result && result.n === 1) won.push(changeSet);
    }
    return 0;
  } catch (error) {
    const [only] = ready;
    if (ready.length === 1 && only !== undefined) {
      failed(only.changeSet, error);
      return 1;
    }
    let errors = 0;
    for (const one of ready) errors += await writeBatch(monitors, [one], won, failed);
    return errors;
  }
}
