/** Plans become writes: many at a time, each comparing `rev`, and one that fails never takes its neighbours along. */
import type { Logger } from '../../ports/logger.js';
import type { Collection, WriteOp } from '../../ports/store.js';
import type { MonitorDoc } from './model.js';
import type { Plan } from './transition.js';

const BATCH = 500;

export interface Planned {
  plan: Plan;
  /** Own outages since the last heartbeat, in ms. */
  credit?: number;
}

/** Answers the plans that were written; the others met another write, or failed. */
export async function writePlans(
  monitors: Collection<MonitorDoc>,
  planned: readonly Planned[],
  log: Logger,
): Promise<{ won: Plan[]; errors: number }> {
  const won: Plan[] = [];
  let errors = 0;
  for (let i = 0; i < planned.length; i += BATCH) {
    const part = planned.slice(i, i + BATCH);
    const ops = part.map(({ plan, credit }): WriteOp<MonitorDoc> => {
      const { id, rev } = plan.before;
      return { change: { id, rev }, update: plan.update(credit) };
    });
    try {
      const results = await monitors.bulk(ops);
      part.forEach(({ plan }, n) => {
        const result = results[n];
        if (result && 'n' in result && result.n === 1) won.push(plan);
      });
    } catch (error) {
      log.warn({ err: error }, 'a batch of monitors was not written; trying them one by one');
      for (const [n, op] of ops.entries()) {
        const { plan } = part[n] as Planned;
        try {
          const [result] = await monitors.bulk([op]);
          if (result && 'n' in result && result.n === 1) won.push(plan);
        } catch (one) {
          errors++;
          log.error({ err: one, monitor: plan.before.id }, 'a monitor could not be evaluated');
        }
      }
    }
  }
  return { won, errors };
}
