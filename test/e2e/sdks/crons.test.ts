/**
 * Jobs that report with Sentry's real SDKs: their check-ins are heartbeats (contract 21, Sentry SDK
 * intake).
 */
import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { TestService } from '../../support/service.js';
import { isPrepared, NODE, OTHERS, REQUIRED, run, type Program } from './programs.js';

const withJobs = (program: Program, file: string): Program => ({
  ...program,
  args: [fileURLToPath(new URL(`crons/${file}`, import.meta.url))],
});
const PROGRAMS = [
  withJobs(NODE, 'main.mjs'),
  ...OTHERS.filter(({ name }) => name === 'python').map((program) => withJobs(program, 'main.py')),
];

describe('sentry sdks: check-ins', function () {
  let service: TestService;
  let token: string;
  before(async () => {
    service = await TestService.createInProcess();
    token = await service.createToken('projects:manage,watchdog:read');
  });
  after(() => service?.dispose());

  const monitor = async (source: string): Promise<Record<string, unknown>> => {
    const path = `/api/watchdog/v1/monitors/${encodeURIComponent(source)}`;
    return (await service.request('GET', path, token)).body['monitor'] as Record<string, unknown>;
  };

  for (const program of PROGRAMS) {
    const { name } = program;
    const title = `${name}: a job that ends well is up, one that throws is down with an alarm`;
    if (program.name !== NODE.name && !REQUIRED && !isPrepared(program)) {
      it.skip(title);
      continue;
    }
    it(title, async () => {
      const projects = '/api/projects/v1/projects';
      await service.request('POST', projects, token, { slug: name });
      const { body } = await service.request('POST', `${projects}/${name}/intake-keys`, token, {});
      await run(program, 'report', String(body['dsn']));
      const stock = await monitor(`${name}/stock`);
      expect(stock).to.include({ state: 'up', project: name, interval_seconds: 7_200 });
      expect(stock['metrics_json']).to.have.property('duration_ms').that.is.a('number');
      const nightly = await monitor(`${name}/nightly`);
      expect(nightly).to.include({ state: 'down', alarm: 'open', interval_seconds: null, schedule: '0 3 * * *' });
      const path = `/api/watchdog/v1/events?source=${encodeURIComponent(`${name}/nightly`)}`;
      const events = (await service.request('GET', path, token)).body['items'] as Record<string, unknown>[];
      expect(events.map(({ type }) => type))
        .to.include('monitor.down')
        .and.not.include('schedule');
    });
  }
});
