/** The example of docs/agents.md, run unchanged. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../../architecture/tree.js';
import { TestService } from '../../../support/service.js';
import { ALL } from '../../../plugins/mcp/fixture.js';

interface Ran {
  code: number | null;
  output: string;
}

const PROGRAMS = { 'agent.mjs': process.execPath, 'agent.py': 'python3' } as const;

function runExample(name: keyof typeof PROGRAMS, env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const root = projectRoot();
    const child = spawn(PROGRAMS[name], [join(root, 'docs/examples', name)], {
      cwd: root,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

describe('docs/examples: agents', function () {
  let service: TestService;

  before(async () => {
    service = await TestService.createInProcess();
  });
  after(() => service.dispose());

  it('resolves the items of a project', async () => {
    await service.createProject('shop');
    const token = await service.createToken(ALL, 'shop');
    for (const title of ['Wrong total with a discount', 'Checkout button does nothing']) {
      const seen = { project: 'shop', title, app_version: '1.4.1' };
      const { status } = await service.request('POST', '/api/bugtracker/v1/report', token, seen);
      expect(status).to.equal(201);
    }
    const { code, output } = await runExample('agent.mjs', {
      SVC_URL: service.url,
      SVC_TOKEN: token,
      AOS_PROJECT: 'shop',
      AOS_BUILD: '1.4.2',
    });
    expect(output).to.match(
      /^working on shop-\d \(medium\), \d+ characters to read\nshop-\d is resolved in 1\.4\.2\n(.*\n){2}no more work\n$/,
    );
    expect(code).to.equal(0);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?status=resolved', token);
    expect(body['items']).to.have.lengthOf(2);
  });

  for (const name of ['agent.mjs', 'agent.py'] as const)
    it(`${name} reports which argument was invalid`, async function () {
      if (spawnSync(PROGRAMS[name], ['--version']).status !== 0) this.skip();
      const slug = `wrong-${name.slice(-2)}`;
      await service.createProject(slug);
      const token = await service.createToken(ALL, slug);
      const seen = { project: slug, title: 'Seen in a later version', app_version: '2.0.0' };
      expect((await service.request('POST', '/api/bugtracker/v1/report', token, seen)).status).to.equal(201);
      const env = { SVC_URL: service.url, SVC_TOKEN: token, AOS_PROJECT: slug, AOS_BUILD: '1.4.2' };
      const { code, output } = await runExample(name, env);
      expect(code).to.not.equal(0);
      expect(output).to.include('resolved_in_build must be above 2.0.0');
    });

  it('runs a complete session in Python', async function () {
    if (spawnSync('python3', ['--version']).status !== 0) this.skip();
    await service.createProject('mill');
    const token = await service.createToken(ALL, 'mill');
    const { status } = await service.request('POST', '/api/bugtracker/v1/report', token, {
      project: 'mill',
      title: 'A bug',
    });
    expect(status).to.equal(201);
    const { code, output } = await runExample('agent.py', {
      SVC_URL: service.url,
      SVC_TOKEN: token,
      AOS_PROJECT: 'mill',
    });
    expect(output).to.match(
      /^15 tools\n0 similar\nworking on mill-1 \(medium\), \d+ characters to read\nmill-1 is resolved in no build yet, revision \d+\nno more work\n$/,
    );
    expect(code).to.equal(0);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs/mill-1', token);
    expect(body['comments']).to.have.lengthOf(1);
  });
});
