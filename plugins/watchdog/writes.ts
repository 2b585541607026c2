/**
 * Plans become writes: many at a time, each comparing `rev`, and one that fails never takes its neighbours along. A batch
 * is on its way to the store while the next one is made.
 */
import type { Logger } from '../../ports/logger.js';
import type { Collection, WriteOp } from '../../ports/store.js';
import type { MonitorDoc } from './model.js';
import { nextCheck } from './timing.js';
import type { Plan } from './transition.js';

const BATCH = 250;

export interface Planned {
  plan: Plan;
  /** Own outages since the last heartbeat, in ms. */
  credit?: number;
}

/** The store's requests go out between turns of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Answers the plans that were written; the others met another write, or failed. */
export async function writePlans(
  monitors: Collection<MonitorDoc>,
  planned: readonly Planned[],
  log: Logger,
): Promise<{ won: Plan[]; errors: number }> {
  const won: Plan[] = [];
  const failed = (plan: Plan, err: unknown): void =>
    log.error({ err, monitor: plan.before.id }, 'a monitor could not be evaluated');
  let errors = 0;
  const written: Promise<number>[] = [];
  for (let i = 0; i < planned.length; i += BATCH) {
    const ready: { plan: Plan; op: WriteOp<MonitorDoc> }[] = [];
    for (const { plan, credit } of planned.slice(i, i + BATCH)) {
      const { id, rev } = plan.before;
      try {
        ready.push({ plan, op: { change: { id, rev }, update: plan.update(nextCheck(plan.next, credit)) } });
      } catch (error) {
        errors++;
        failed(plan, error);
      }
    }
    written.push(writeReady(monitors, ready, won, failed));
    await turn();
  }
  for (const n of await Promise.all(written)) errors += n;
  return { won, errors };
}

/** Together; one by one where the store refuses the whole. Answers how many failed. */
async function writeReady(
  monitors: Collection<MonitorDoc>,
  ready: readonly { plan: Plan; op: WriteOp<MonitorDoc> }[],
  won: Plan[],
  failed: (plan: Plan, error: unknown) => void,
): Promise<number> {
  try {
    const results = await monitors.bulk(ready.map(({ op }) => op));
    for (const [n, { plan }] of ready.entries()) {
      const result = results[n];
      if (result && 'n' in result && result.n === 1) won.push(plan);
    }
    return 0;
  } catch (error) {
    const [only] = ready;
    if (ready.length === 1 && only !== undefined) {
      failed(only.plan, error);
      return 1;
    }
    let errors = 0;
    for (const one of ready) errors += await writeReady(monitors, [one], won, failed);
    return errors;
  }
}
