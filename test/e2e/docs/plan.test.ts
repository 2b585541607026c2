/** The calculator of docs/scaling.md. */
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageRoot } from '../../../config/load.js';

interface Plan {
  calls_per_day: Record<string, number>;
  calls_per_second_peak: number;
  store_operations_per_second_peak: number;
  processes: number;
  gigabytes: { metrics_14_days: number };
}
interface Planner {
  plan: (given?: Record<string, number>) => Plan;
  OPERATIONS: Record<string, number>;
}

const SCRIPT = join(packageRoot(), 'scripts', 'plan.mjs');
const planner = (): Promise<Planner> => import(pathToFileURL(SCRIPT).href) as Promise<Planner>;
const run = (...args: string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, [SCRIPT, ...args], { encoding: 'utf8' });

describe('npm run plan', () => {
  it('counts calls and operations from its assumptions', async () => {
    const { plan, OPERATIONS } = await planner();
    const small = plan({ machines: 100, 'heartbeat-seconds': 60, 'peak-factor': 1, processes: 1 });
    expect(small.calls_per_day['heartbeat']).to.equal(144_000);
    expect(small.calls_per_day['check']).to.equal(2_400);
    const fewer = plan({ machines: 100, 'heartbeat-seconds': 120, 'peak-factor': 1, processes: 1 });
    const saved = small.store_operations_per_second_peak - fewer.store_operations_per_second_peak;
    expect(saved).to.be.closeTo((72_000 * (OPERATIONS['heartbeat'] ?? 0)) / 86_400, 1e-9);
    expect(plan({ machines: 1_000_000 }).processes).to.be.greaterThan(plan({ machines: 1_000 }).processes);
  });

  it('says which assumption is wrong, and exits 64', () => {
    for (const [args, text] of [
      [['--machines', 'many'], '--machines must be a number of 0 or more'],
      [['--heartbeat-seconds', '0'], '--heartbeat-seconds'],
      [['--nothing', '1'], '--nothing'],
    ] as const) {
      const { status, stdout, stderr } = run(...args);
      expect([status, stdout]).to.deep.equal([64, '']);
      expect(stderr).to.include(text);
    }
    expect(JSON.parse(run('--json', '--machines', '5').stdout)).to.have.nested.property('assumptions.machines', 5);
  });

  it('gives the table of docs/scaling.md', async () => {
    const { plan } = await planner();
    const page = await readFile(join(packageRoot(), 'docs', 'scaling.md'), 'utf8');
    const rows = [
      ...page.matchAll(/^\| ([\d,]+) machines +\| every (\d* ?)minutes? +\| ([\d,.]+) +\| ([\d,.]+) +\| (\d+) +\|/gm),
    ];
    expect(rows.length).to.be.at.least(4);
    const shown = (value: number): string => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1));
    for (const [, machines = '', minutes = '', calls, operations, processes] of rows) {
      const made = plan({
        machines: Number(machines.replaceAll(',', '')),
        'heartbeat-seconds': 60 * (Number(minutes.trim()) || 1),
      });
      expect([calls, operations, processes], machines).to.deep.equal([
        shown(made.calls_per_second_peak),
        shown(made.store_operations_per_second_peak),
        String(made.processes),
      ]);
    }
  });
});
