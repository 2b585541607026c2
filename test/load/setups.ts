/**
 * Machines that are set up: the monitor of a machine with its token and script (`POST /api/setup/v1/agent`), by one login
 * and with a login each. A login is one bcrypt of cost 12, which is measured beside them.
 */
import { availableParallelism } from 'node:os';
import bcrypt from 'bcryptjs';
import { ADMIN, TestService } from '../support/service.js';
import { costLine, costOf, medians, type Cost } from './beside.js';
import { callers } from './callers.js';

type Say = (text: string) => void;
const CALLERS = 16;
const BASE = '/api/setup/v1';
const UNLIMITED = { SVC_LIMITS__API_PER_MINUTE: '0', SVC_LIMITS__PUBLIC_PER_MINUTE: '0' };

export async function setupFigures(say: Say, rounds: number, seconds: number): Promise<void> {
  const service = await TestService.started(UNLIMITED);
  try {
    const logIn = async (): Promise<string> => {
      const { status, body } = await service.request('POST', `${BASE}/login`, null, { ...ADMIN });
      if (status !== 200) throw new Error(`login: ${status} ${JSON.stringify(body)}`);
      return String(body['token']);
    };
    let machine = 0;
    const setUp = async (token: string): Promise<boolean> => {
      const name = `host-${++machine}`;
      const body = { name, hostname: name, platform: 'linux-x64' };
      return (await service.request('POST', `${BASE}/agent`, token, body)).status === 201;
    };
    const token = await logIn();
    const pids = [service.child?.pid ?? 0];
    say(`\nMachines set up, ${rounds} rounds of ${seconds} s each, medians; ${availableParallelism()} cores`);
    for (const [name, count, work] of [
      ['one after the other, one login', 1, () => setUp(token)],
      [`${CALLERS} callers, one login`, CALLERS, () => setUp(token)],
      [`${CALLERS} callers, a login each time`, CALLERS, async () => setUp(await logIn())],
    ] as const) {
      const load = () => callers(count, seconds, work);
      await load();
      const costs: Cost[] = [];
      for (let round = 0; round < rounds; round++) costs.push(await costOf({ name, pids, seconds }, load));
      say(costLine(name, medians(costs)));
    }
    say(`  one bcrypt of cost 12 in this process: ${bcryptMs().toFixed(0)} ms of CPU`);
  } finally {
    await service.dispose();
  }
}

function bcryptMs(): number {
  const hash = bcrypt.hashSync(ADMIN.password, 12);
  const began = process.cpuUsage();
  bcrypt.compareSync(ADMIN.password, hash);
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1000;
}
