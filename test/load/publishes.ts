/** Publishes of small packages: one after the other, by several callers at once to one product, and to many. */
import { gzipSync } from 'node:zlib';
import { tarEntry } from '../support/archives.js';
import { TestService } from '../support/service.js';
import { costLine, costOf, medians, type Cost } from './beside.js';
import { callers } from './callers.js';

type Say = (text: string) => void;
const CALLERS = 16;
const UNLIMITED = { SVC_LIMITS__API_PER_MINUTE: '0' };

const packed = (content: string): Buffer =>
  gzipSync(Buffer.concat([tarEntry({ name: 'app.txt', content }), Buffer.alloc(1024)]), { level: 1 });

export async function publishFigures(say: Say, rounds: number, seconds: number): Promise<void> {
  const service = await TestService.started(UNLIMITED);
  try {
    for (let n = 0; n <= CALLERS; n++) await service.project(`bench-${n}`);
    const token = await service.token('updateservice:publish');
    let version = 0;
    const publish = async (product: string): Promise<boolean> => {
      const query = `product=${product}&version=1.${++version}`;
      const response = await fetch(`${service.url}/api/updateservice/v1/publish?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
        body: packed(query),
      });
      await response.body?.cancel();
      return response.status === 201;
    };
    const pids = [service.child?.pid ?? 0];
    say(`\nPublishes of small packages, ${rounds} rounds of ${seconds} s each, medians`);
    for (const [name, count, product] of [
      ['one after the other', 1, () => 'bench-0'],
      [`${CALLERS} callers, one product`, CALLERS, () => 'bench-0'],
      [`${CALLERS} callers, a product each`, CALLERS, (caller: number) => `bench-${caller + 1}`],
    ] as const) {
      const load = () => callers(count, seconds, (caller) => publish(product(caller)));
      await load();
      const costs: Cost[] = [];
      for (let round = 0; round < rounds; round++) costs.push(await costOf({ name, pids, seconds }, load));
      say(costLine(name, medians(costs)));
    }
  } finally {
    await service.dispose();
  }
}
