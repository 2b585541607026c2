/** Jobs, secrets and the check of a plugin from outside, in the real program. */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitUntil } from '../../harness.js';
import { runCli, SHARED_KEY, TestService } from '../../support/service.js';

const SECRET = 'hunter2-and-more';

describe('external plugins', function () {
  let service: TestService;
  const write = (name: string, members: string): Promise<void> =>
    writeFile(
      join(service.dataDir, `${name}.mjs`),
      `import { joi } from 'aos/plugin';
      export default { id: '${name}', version: '1.0.0', api: 1, title: '${name}', ${members} };`,
    );

  before(async () => {
    service = await TestService.create({ SVC_SENDER__TOKEN: SECRET });
    await write(
      'sender',
      `config: joi.object({ token: joi.string().secret().required() }),
      setup: (ctx) => ({
        jobs: [
          { name: 'send', run: async ({ attempt, lastAttempt }) => {
            ctx.log.warn({ attempt, lastAttempt }, 'sends with ' + ctx.config.token);
            throw new Error('receiver down: ' + ctx.config.token);
          } },
          { name: 'compute', run: async () => { const end = Date.now() + 1600; while (Date.now() < end); } },
        ],
        start: async () => {
          await ctx.ports.jobs.enqueue('send', null, { retry: 10 });
          await ctx.ports.jobs.enqueue('compute');
        },
      })`,
    );
    service.env['SVC_CONFIG'] = join(service.dataDir, 'aos.json');
    await writeFile(service.env['SVC_CONFIG'], JSON.stringify({ plugins: ['./sender.mjs'] }));
    await service.start();
  });
  after(() => service.dispose());

  const lines = (): Record<string, unknown>[] =>
    service.stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  it('log one warning per retried attempt, and are reported as failing meanwhile', async () => {
    const reported = (): Record<string, unknown>[] => lines().filter(({ job }) => job === 'sender.send');
    await waitUntil('two attempts', () => reported().length >= 2);
    for (const line of reported()) expect(line).to.include({ level: 40, msg: 'a job failed and will be retried' });
    expect(
      reported()
        .map(({ failures }) => failures)
        .slice(0, 2),
    ).to.deep.equal([1, 2]);
    const { body } = await service.request('GET', '/api/health', SHARED_KEY);
    expect((body['checks'] as { jobs: { failing: string[] } }).jobs.failing).to.include('sender.send');
  });

  it('are named when their job blocks the event loop', async () => {
    await waitUntil('the line', () =>
      lines().some(({ msg }) =>
        /^the event loop was blocked for \d+ ms while .*sender\.compute.* ran$/.test(String(msg)),
      ),
    );
  });

  it('never show a secret setting in a log line', async () => {
    await waitUntil('a line', () => service.stdout.includes('sends with [redacted]'));
    expect(service.stdout + service.stderr).to.not.include(SECRET);
    expect(service.stdout).to.include('receiver down: [redacted]');
  });

  it('are checked without being started, for any installation', async () => {
    await write('good', `setup: () => ({ start: () => { process.exit(9); } })`);
    const good = await runCli(service.env, ['plugin', 'check', join(service.dataDir, 'good.mjs')]);
    expect([good.code, good.stdout], good.stderr).to.deep.equal([0, 'good 1.0.0: ok, 0 routes, 0 pages, 0 commands\n']);
    await write('bad', `needs: ['nobody.api'], setup: () => ({})`);
    const bad = await runCli(service.env, ['plugin', 'check', join(service.dataDir, 'bad.mjs'), '--json']);
    expect([bad.code, JSON.parse(bad.stdout)]).to.deep.include.members([1]);
    expect((JSON.parse(bad.stdout) as { reason: string }).reason).to.include('needs "nobody.api"');
    const none = await runCli(service.env, ['plugin', 'check', './nowhere']);
    expect([none.code, none.stdout]).to.satisfy(
      ([code, stdout]: [number, string]) => code === 1 && stdout.includes('no file or folder with this name'),
    );
  });
});
