/** The example of docs/agents.md, run as it stands there. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { projectRoot } from '../../architecture/tree.js';
import { TestService } from '../../support/service.js';
import { ALL } from './stand.js';

interface Ran {
  code: number | null;
  output: string;
}

function runExample(env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const root = projectRoot();
    const child = spawn(process.execPath, [join(root, 'docs/examples/agent.mjs')], {
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

describe('docs/examples/agent.mjs', function () {
  this.timeout(60_000);
  let service: TestService;

  before(async () => {
    service = await TestService.started();
  });
  after(() => service.dispose());

  it('works off a project’s items', async () => {
    await service.project('shop');
    const token = await service.token(ALL, 'shop');
    for (const title of ['Wrong total with a discount', 'Checkout button does nothing']) {
      const { status } = await service.request('POST', '/api/bugtracker/v1/report', token, { project: 'shop', title });
      expect(status).to.equal(201);
    }
    const { code, output } = await runExample({ AOS_URL: service.url, AOS_TOKEN: token, AOS_PROJECT: 'shop' });
    expect(output).to.match(
      /^working on shop-\d \(medium\), \d+ characters to read\nshop-\d is resolved in 1\.4\.0\n(.*\n){2}no more work\n$/,
    );
    expect(code).to.equal(0);
    const { body } = await service.request('GET', '/api/bugtracker/v1/bugs?status=resolved', token);
    expect(body['items']).to.have.lengthOf(2);
  });
});
