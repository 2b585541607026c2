/**
 * A migration that fails is reported by the command and by the endpoint (contract 95, amendments).
 */
import { expect } from 'chai';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCli, SHARED_KEY, TestService } from '../../support/service.js';

describe('start: failing migration', () => {
  let service: TestService;
  const copies = async (): Promise<string[]> =>
    (await readdir(join(service.dataDir, 'backups'))).filter((name) => name.includes('before'));
  const plugin = (body: string): Promise<void> =>
    writeFile(
      join(service.dataDir, 'oncall.mjs'),
      `export default { id: 'oncall', version: '1.0.0', api: 1, title: 'On call',
        migrations: [{ number: 1, name: 'calls', run: async () => { ${body} } }], setup: () => ({}) };`,
    );

  before(async () => {
    service = await TestService.create();
    await plugin("throw new Error('the table of calls is locked');");
    service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
    await writeFile(service.env['SVC_CONFIG'], JSON.stringify({ plugins: ['./oncall.mjs'] }));
  });
  after(() => service.dispose());

  it('makes `aos migrate` exit 1 with the migration name and the reason, each time', async () => {
    const why = 'migration oncall:001-calls failed: the table of calls is locked';
    for (let attempt = 0; attempt < 2; attempt++) {
      const { code, stdout, stderr } = await runCli(service.env, ['migrate']);
      expect([code, stdout, stderr]).to.deep.equal([1, '', `${why}\n`]);
    }
    const { code, stdout } = await runCli(service.env, ['migrate', '--json']);
    expect([code, JSON.parse(stdout)]).to.deep.equal([
      1,
      { status: 'error', error: { code: 'internal_error', message: why } },
    ]);
    expect(await copies()).to.have.length(1);
  });

  it('makes the migrate endpoint return 500, while the service runs without the plugin', async () => {
    await service.start();
    const { status, body } = await service.request('POST', '/api/admin/v1/migrate', SHARED_KEY);
    expect([status, (body['error'] as { code: string }).code]).to.deep.equal([500, 'internal_error']);
    expect((await service.request('GET', '/api/health', SHARED_KEY)).body).to.deep.nested.include({
      'checks.plugins.oncall.state': 'failed',
      'schema.pending': ['oncall:001-calls'],
    });
    await service.stop();
    expect(await copies()).to.have.length(1);
  });

  it('is applied after its cause is fixed, without a second backup', async () => {
    await plugin('');
    const { code, stdout } = await runCli(service.env, ['migrate']);
    expect([code, stdout]).to.deep.equal([0, 'Applied: oncall:001-calls.\n']);
    expect((await runCli(service.env, ['migrate'])).stdout).to.equal('Nothing was pending.\n');
    expect(await copies()).to.have.length(1);
  });
});
