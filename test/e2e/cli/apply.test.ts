/** `aos apply` and `aos export-config` against a running service (contract 97, apply). */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, TestService, type CommandOutcome } from '../../support/service.js';

const FIRST = `version: 1
projects:
  - slug: shop
    name: \${env:SHOP_NAME}
webhooks:
  - name: chat
    url: https://chat.example.com/hook
    events: monitor.down
    project_slug: shop
    secret: \${file:secret.txt}
`;
const SECOND = `version: 1
monitors:
  - source: web-1
    project: shop
    tags: [web]
    probe: { kind: http, url: "https://shop.example.com/health", headers: { x-key: "\${env:PROBE_KEY}" } }
`;
const SECRET = 'kept-in-a-file';

describe('cli: apply and export-config', () => {
  let service: TestService;
  let token: string;
  let home: string;

  const run = (words: readonly string[], input = ''): Promise<CommandOutcome> => {
    const { SVC_DATA_DIR: _data, ...env } = service.env;
    const own = {
      ...env,
      XDG_CONFIG_HOME: home,
      SVC_URL: service.url,
      SVC_TOKEN: token,
      SHOP_NAME: 'The shop',
      PROBE_KEY: 'probe-key',
    };
    return runCli(own, words, input);
  };
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(home, name);
    await writeFile(path, text);
    return path;
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'aos-apply-'));
    await write('secret.txt', `${SECRET}\n`);
    service = await TestService.createStarted();
    token = await service.createToken('system:manage');
  });
  after(async () => {
    await service.dispose();
    await rm(home, { recursive: true, force: true });
  });

  it('plans, applies and repeats documents of several files', async () => {
    const files = ['-f', await write('first.yaml', FIRST), await write('second.yaml', SECOND)];
    const planned = await run(['apply', ...files, '--dry-run']);
    expect(planned.code, planned.stderr).to.equal(2);
    expect(planned.stdout)
      .to.include('+ projects shop\n')
      .and.include('name: The shop')
      .and.include('secret: (secret)');
    expect(planned.stdout).not.to.include(SECRET).and.not.to.include('probe-key');
    const applied = await run(['apply', ...files]);
    expect(applied.code, applied.stderr).to.equal(0);
    expect(applied.stdout).to.match(/Applied: 3 created, 0 updated, 0 deleted, 0 unchanged\.\n$/);
    const again = await run(['apply', ...files, '--dry-run']);
    expect(again.code, again.stdout).to.equal(0);
    expect(again.stdout).to.equal('Plan: 0 to create, 0 to update, 0 to delete, 3 unchanged.\n');
  });

  it('shows an update as from → to, and a deletion with --prune', async () => {
    const file = await write('changed.yaml', SECOND.replace('[web]', '[web, eu]'));
    const updated = await run(['apply', '--file', file, '--prune', '--dry-run']);
    expect(updated.code, updated.stderr).to.equal(2);
    expect(updated.stdout).to.include('~ monitors web-1\n    tags: ["web"] → ["web","eu"]\n');
    expect(updated.stdout).to.include('- webhooks chat\n').and.include('- projects shop\n');
  });

  it('exports a document that applies as unchanged', async () => {
    const exported = await run(['export-config']);
    expect(exported.code, exported.stderr).to.equal(0);
    expect(exported.stdout).to.include('webhooks[0].secret').and.include('monitors[0].probe.headers');
    expect(exported.stdout).not.to.include(SECRET).and.not.to.include('probe-key');
    const again = await run(['apply', '-f', '-', '--dry-run'], exported.stdout);
    expect(again.stdout, again.stderr).to.match(/^Plan: 0 to create, 0 to update, 0 to delete, \d+ unchanged\.\n$/);
    expect(again.code).to.equal(0);
    const one = await run(['export-config', '--project', 'shop', '--json']);
    expect(JSON.parse(one.stdout).document.monitors).to.have.length(1);
    expect((await run(['export-config', '--project', 'none'])).code).to.equal(1);
  });

  it('names path, file and line of a fault', async () => {
    const good = await write('good.yaml', SECOND);
    const bad = await write('bad.yaml', 'version: 1\nmonitors:\n  - source: web-2\n    interval: 60\n');
    const { code, stderr } = await run(['apply', '-f', good, '-f', bad]);
    expect(code).to.equal(1);
    expect(stderr).to.include('monitors[1].interval: is not a field of this object').and.include('bad.yaml, line 4');
  });

  const FAULTS: [title: string, text: string, words: string][] = [
    ['a variable that is not set', 'version: 1\nprojects: [{slug: a, name: "${env:AOS_NOT_SET}"}]', 'projects[0].name'],
    [
      'a file that does not exist',
      'version: 1\nprojects: [{slug: a, name: "${file:none}"}]',
      'the file does not exist',
    ],
    ['a document that is no YAML', 'version: [1', 'is not YAML'],
  ];
  for (const [title, text, words] of FAULTS)
    it(`reports ${title}`, async () => {
      const { code, stderr } = await run(['apply', '-f', await write('fault.yaml', text)]);
      expect(code).to.equal(1);
      expect(stderr).to.include(words);
    });

  it('reports a missing file and a missing option', async () => {
    expect((await run(['apply', '-f', join(home, 'nowhere.yaml')])).stderr).to.include('does not exist');
    expect((await run(['apply'])).code).to.equal(64);
  });
});
