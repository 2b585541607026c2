/** The real program takes an export over, and the addresses of before go on (contract 30, beyond the specification). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { aos, aosJson, SHARED_KEY, TestService } from '../../../../support/service.js';

const UUID = '803f680d-e89b-492b-82ef-2be7b774a92d';
const PUSH = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF';

describe('aos import healthchecks | kuma', function () {
  let service: TestService;
  before(async () => (service = await TestService.started({ SVC_LOG_LEVEL: 'debug' })));
  after(() => service.dispose());

  const stateOf = async (source: string): Promise<unknown> => {
    const { body } = await service.request('GET', `/api/watchdog/v1/monitors/${source}`, SHARED_KEY);
    return (body['monitor'] as { state: string }).state;
  };

  it('pings and pushes of before reach their monitors, and no log names them', async () => {
    const checks = join(service.dataDir, 'checks.json');
    await writeFile(
      checks,
      JSON.stringify({ checks: [{ name: 'Backup', timeout: 60, grace: 60, ping_url: `https://hc-ping.com/${UUID}` }] }),
    );
    const backup = join(service.dataDir, 'kuma.json');
    await writeFile(
      backup,
      JSON.stringify({ monitorList: [{ id: 1, name: 'Cron', type: 'push', pushToken: PUSH, interval: 60 }] }),
    );
    expect(await aosJson(service.env, ['import', 'healthchecks', checks])).to.deep.include({
      created: ['backup'],
      notes: [],
    });
    expect(await aosJson(service.env, ['import', 'kuma', backup])).to.deep.include({ created: ['cron'], known: [] });
    expect(await stateOf('backup')).to.equal('unknown');

    const ping = await fetch(`${service.url}/ping/${UUID}`);
    expect([ping.status, await ping.text()]).to.deep.equal([200, 'OK']);
    expect(await stateOf('backup')).to.equal('up');
    expect((await fetch(`${service.url}/ping/${UUID}/fail`, { method: 'POST', body: 'disk full' })).status).to.equal(
      200,
    );
    expect(await stateOf('backup')).to.equal('down');
    const push = await fetch(`${service.url}/api/push/${PUSH}?status=up&msg=OK&ping=`);
    expect(await push.json()).to.deep.equal({ ok: true });
    expect(await stateOf('cron')).to.equal('up');
    expect((await fetch(`${service.url}/ping/${UUID.replace('8', '9')}`)).status).to.equal(404);
    expect(service.stdout + service.stderr).not.to.match(new RegExp(`${UUID}|${PUSH}`));
  });

  it('a file that is no export is refused in one line', async () => {
    const file = join(service.dataDir, 'none.json');
    await writeFile(file, '{}');
    const { code, stderr } = await aos(service.env, ['import', 'kuma', file]);
    expect(code).to.equal(1);
    expect(stderr.trim().split('\n')).to.have.lengthOf(1);
    expect((await aos(service.env, ['import', 'nagios', file])).code).to.equal(64);
  });
});
