/**
 * Three real processes on one MongoDB keep one limit together, and health says how many they are
 * (contract 95, several processes).
 */
import { expect } from 'chai';
import { waitUntil } from '../../harness.js';
import { durableEngines } from '../../support/durable-engines.js';
import { TestService } from '../../support/service.js';

const PROCESSES = 3;
const LIMIT = 30;

describe('three processes on one store', function () {
  const services: TestService[] = [];
  before(async function () {
    const settings = await durableEngines.find(({ name }) => name === 'mongodb')?.settings();
    if (!settings) this.skip();
    for (let n = 0; n < PROCESSES; n++) {
      services.push(await TestService.createStarted({ ...settings, SVC_LIMITS__API_PER_MINUTE: String(LIMIT) }));
    }
  });
  after(async () => {
    await Promise.all(services.map((service) => service.dispose()));
  });

  const counted = async (service: TestService): Promise<number> => {
    const { body } = await service.request('GET', '/api/health', String(service.env['SVC_SHARED_KEY']));
    return (body as { checks: { database: { processes: number } } }).checks.database.processes;
  };
  const all = async (n: number): Promise<boolean> => {
    for (const service of services) if (service.child !== null && (await counted(service)) !== n) return false;
    return true;
  };

  it('share a rate limit, and take over the share of a stopped process', async () => {
    const [first] = services;
    const token = (await first?.createToken('bugtracker:read')) ?? '';
    await waitUntil('each knows of the others', () => all(PROCESSES));
    const statuses = await Promise.all(
      Array.from({ length: 3 * LIMIT }, async (_, i) => {
        const service = services[i % PROCESSES];
        return (await service?.request('GET', '/api/bugtracker/v1/bugs', token))?.status;
      }),
    );
    const passed = statuses.filter((status) => status === 200).length;
    // A bucket refills one call in two seconds while this runs.
    expect(passed).to.be.within(LIMIT, LIMIT + PROCESSES * 5);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).to.deep.equal([]);
    await services[0]?.stop();
    await waitUntil('the others know that it stopped', () => all(PROCESSES - 1));
  });
});
