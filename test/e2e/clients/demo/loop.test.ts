/**
 * The whole loop, by the command that shows it to people: `npm run demo -- loop` before the real
 * service, with the real packager, update agent, SDK and till. The story says what it saw; what
 * pages and the interface show afterwards is looked at here.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { Browser } from '../../../conformance/wire.js';

const DEMO = fileURLToPath(new URL('../../../../clients/demo/main.js', import.meta.url));
const run = promisify(execFile);

describe('demo: release and error loop', function () {
  this.timeout(600_000);
  let service: TestService;
  before(async () => {
    service = await TestService.createInProcess();
  });
  after(() => service.dispose());

  it('reports invalid arguments', async () => {
    const failure = await run(process.execPath, [DEMO, 'lop'], { env: service.env }).then(
      () => null,
      (error: { code: number; stderr: string }) => error,
    );
    expect(failure?.code).to.equal(1);
    expect(failure?.stderr).to.equal('There is no demo lop: npm run demo, or npm run demo -- loop\n');
  });

  it('runs the demo: package, install, error, fix over MCP, rollout, update, and a halted bad release', async () => {
    const { stdout } = await run(process.execPath, [DEMO, 'loop'], { env: service.env });
    const after = [
      'CI packs loop-1 1.0.0',
      'signed; everybody is offered it',
      'was told: release.published',
      'installed 1.0.0 and started it',
      'up, version 1.0.0',
      'was told: bug.created',
      'it has loop-1-1: ',
      'publishing it closed loop-1-1',
      'was told: release.published',
      'was told: bug.resolved',
      'the agent replaced it by 1.1.0',
      'it updated itself; now every order fails in another way',
      'was told: release.halted',
      'the rollout stopped by itself',
    ];
    let at = 0;
    for (const words of after) {
      const found = stdout.toLowerCase().indexOf(words.toLowerCase(), at);
      expect(found, `${words}\n${stdout}`).to.be.at.least(at);
      at = found + words.length;
    }

    const token = await service.createToken('bugtracker:read,updateservice:publish');
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs/loop-1-1', token);
    expect(body['item'] ?? body).to.include({ status: 'closed', resolved_in_build: '1.1.0' });
    const list = await service.request('GET', '/api/updateservice/v1/releases?product=loop-1', token);
    const releases = list.body['items'] as { id: string; version: string; halted_at: string | null }[];
    expect(releases.filter(({ halted_at }) => halted_at !== null)).to.have.length(1);

    const admin = new Browser(service);
    await admin.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    const halted = releases.find(({ halted_at }) => halted_at !== null);
    const page = await admin.open('GET', `/releases/${halted?.id ?? ''}`);
    expect(page.status).to.equal(200);
    // The till's heartbeats and update checks are of one machine, on the release that was halted.
    const version = (halted?.version ?? '').replaceAll('.', '\\.');
    const text = page.text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).to.include(' 1 of 1 machines updated ');
    expect(text).to.match(new RegExp(`Machines by version .* ${version} 1 Crash-free sessions `));
  });
});
