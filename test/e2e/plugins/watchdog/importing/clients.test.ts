/**
 * What people have in their crontabs goes on after a change of the host name: the lines that
 * Healthchecks and Uptime Kuma tell them to use, run by a shell with curl, against the monitors
 * that were taken over (contract 30, pings known from elsewhere).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { durableEngines } from '../../../../support/durable-engines.js';
import { isAvailable } from '../../../../support/requirements.js';
import { CACHE } from '../../../sdks/programs.js';
import { SHARED_KEY, TestService } from '../../../../support/service.js';

const UUID = '803f680d-e89b-492b-82ef-2be7b774a92d';
const PUSH = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF';
const PINGER = fileURLToPath(new URL('python/main.py', import.meta.url));
/** As Healthchecks shows it. */
const CURL = 'curl -fsS -m 10 --retry 5';

interface Ran {
  /** Exit code. */
  code: number;
  stdout: string;
}

const shell = (line: string): Promise<Ran> =>
  new Promise((resolve) => {
    execFile('sh', ['-c', line], { timeout: 60_000 }, (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout });
    });
  });

for (const engine of durableEngines) {
  describe(`clients of Healthchecks and Uptime Kuma on ${engine.name}`, function () {
    let service: TestService;
    let ping: string;
    let push: string;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null || (await shell('curl --version')).code !== 0) this.skip();
      service = await TestService.createInProcess(settings);
      const take = (program: string, text: object): Promise<unknown> =>
        service.runCommand(['import', program, '-'], JSON.stringify(text));
      const check = { name: 'Backup', timeout: 3_600, grace: 3_600, ping_url: `https://hc-ping.com/${UUID}` };
      const monitor = { id: 1, name: 'Cron', type: 'push', pushToken: PUSH, interval: 3_600 };
      expect(await take('healthchecks', { checks: [check] })).to.deep.include({ created: ['backup'] });
      expect(await take('kuma', { monitorList: [monitor] })).to.deep.include({ created: ['cron'] });
      ping = `${service.url}/ping/${UUID}`;
      push = `${service.url}/api/push/${PUSH}`;
    });
    after(() => service?.dispose());

    interface Seen {
      state: string;
      message: string | null;
      metrics_json: Record<string, unknown>;
    }
    const seen = async (source: string): Promise<Seen> => {
      const { body } = await service.request('GET', `/api/watchdog/v1/monitors/${source}`, SHARED_KEY);
      return body['monitor'] as Seen;
    };
    /** The line, which goes well, and what its monitor is afterwards. */
    const ran = async (line: string, source: string): Promise<Seen> => {
      expect((await shell(line)).code, line).to.equal(0);
      return seen(source);
    };

    it('ping the imported check from a crontab line', async () => {
      expect((await seen('backup')).state).to.equal('unknown');
      expect((await ran(`${CURL} -o /dev/null ${ping}`, 'backup')).state).to.equal('up');
      expect((await shell(`${CURL} ${ping}`)).stdout).to.equal('OK');
    });

    it('support /start, /fail with the output, /log, and the exit code of the job', async () => {
      expect((await ran(`${CURL} ${ping}/start && ${CURL} ${ping}`, 'backup')).metrics_json).to.have.property(
        'duration_ms',
      );
      const failed = await ran(`${CURL} --data-raw 'disk full' ${ping}/fail`, 'backup');
      expect([failed.state, failed.message]).to.deep.equal(['down', 'disk full']);
      expect((await ran(`${CURL} ${ping}/start`, 'backup')).state, 'a start changes no state').to.equal('down');
      expect((await ran(`true; ${CURL} ${ping}/$?`, 'backup')).state).to.equal('up');
      expect(
        (await ran(`m=$(echo moved 3 files) ; (exit 3); ${CURL} --data-raw "$m" ${ping}/$?`, 'backup')).state,
      ).to.equal('down');
      expect((await ran(`${CURL} --data-raw 'still at it' ${ping}/log`, 'backup')).state).to.equal('down');
      expect((await ran(`${CURL} ${ping}/0`, 'backup')).state).to.equal('up');
    });

    it('support the Uptime Kuma push URL, up and down', async () => {
      const { stdout } = await shell(`${CURL} '${push}?status=up&msg=OK&ping='`);
      expect(JSON.parse(stdout)).to.deep.equal({ ok: true });
      expect(await seen('cron')).to.include({ state: 'up', message: 'OK' });
      const down = await ran(`${CURL} '${push}?status=down&msg=no%20disk&ping='`, 'cron');
      expect(down).to.include({ state: 'down', message: 'no disk' });
      const up = await ran(`${CURL} '${push}?status=up&msg=OK&ping=17'`, 'cron');
      expect(up.state).to.equal('up');
      expect(up.metrics_json).to.include({ ping_ms: 17 });
    });

    describe('published clients in Python', () => {
      before(function () {
        if (!isAvailable('sdks', existsSync(join(CACHE, 'pingers', '.complete')))) this.skip();
      });
      const python = (what: string, source: string): Promise<Seen> =>
        ran(
          `PYTHONPATH='${join(CACHE, 'pingers')}' python3 -B '${PINGER}' '${service.url}' ${UUID} '${push}' ${what}`,
          source,
        );

      it('healthchecks-io: sends start, success and exit code, and reports exceptions in a trap', async () => {
        const done = await python('success', 'backup');
        expect(done).to.include({ state: 'up', message: 'moved 3 files' });
        expect(done.metrics_json).to.have.property('duration_ms');
        expect(await python('exit', 'backup')).to.include({ state: 'down', message: 'disk full' });
        await python('success', 'backup');
        const trapped = await python('trap', 'backup');
        expect(trapped.state).to.equal('down');
        expect(trapped.message).to.include('no disk');
      });

      it('apykuma: sends a push', async () => {
        await ran(`${CURL} '${push}?status=down'`, 'cron');
        expect(await python('push', 'cron')).to.include({ state: 'up', message: 'OK' });
      });
    });

    it('receive an HTTP error for an address that was not imported', async () => {
      expect((await shell(`curl -fsS -m 10 ${ping.replace('803f', '903f')}`)).code).to.equal(22);
      expect((await shell(`curl -fsS -m 10 '${push}x?status=up'`)).code).to.equal(22);
    });
  });
}
