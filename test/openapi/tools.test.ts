/** openapi.json before foreign programs: a linter, and a generator whose client reports an error to the running service. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { TestService } from '../support/service.js';

const TOOLS = process.env['SVC_TEST_OPENAPI'] ?? join(tmpdir(), `aos-test-openapi-${userInfo().uid}`);

const PROGRAM = `
import os
from client import AuthenticatedClient
from client.api.errors import report_error
from client.models import ErrorLevel, ErrorReport
service = AuthenticatedClient(base_url=os.environ["AOS_URL"], token=os.environ["AOS_TOKEN"])
report = ErrorReport(project="shop", error_level=ErrorLevel.ERROR, error_message="Boom", exception_class="Boom")
first = report_error.sync_detailed(client=service, body=report)
second = report_error.sync_detailed(client=service, body=report)
print(first.status_code.value, first.parsed.created, second.status_code.value, second.parsed.created, second.parsed.hit_count)
`;

function run(program: string, args: string[], env: NodeJS.ProcessEnv, cwd: string): Promise<[number | null, string]> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: { ...process.env, ...env }, cwd });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve([code, output]));
  });
}

describe('openapi.json before foreign programs', function () {
  this.timeout(180_000);
  let service: TestService;
  let folder: string;
  before(async function () {
    if (!existsSync(join(TOOLS, '.complete'))) this.skip();
    service = await TestService.started();
    await service.project('shop');
    folder = await mkdtemp(join(tmpdir(), 'aos-openapi-'));
    await writeFile(join(folder, 'openapi.json'), await (await fetch(`${service.url}/api/openapi.json`)).text());
  });
  after(async () => {
    await service?.dispose();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const lint = (name: string, ...args: string[]): Promise<[number | null, string]> =>
    run(
      join(TOOLS, 'npm', 'node_modules', '.bin', name),
      ['lint', ...args, 'openapi.json'],
      { REDOCLY_TELEMETRY: 'off' },
      folder,
    );

  it('has no error for redocly', async () => {
    const [code, output] = await lint('redocly');
    expect(code, output).to.equal(0);
  });

  it('makes a Python client that imports and reports an error', async () => {
    const python = { PYTHONPATH: join(TOOLS, 'python') };
    const make = [
      '-m',
      'openapi_python_client',
      'generate',
      '--path',
      'openapi.json',
      '--output-path',
      'client',
      '--meta',
      'none',
    ];
    const [made, said] = await run('python3', make, python, folder);
    expect(made, said).to.equal(0);
    expect(said).to.not.contain('Endpoint will not be generated');
    const token = await service.token('bugtracker:report', 'shop');
    const [code, output] = await run(
      'python3',
      ['-c', PROGRAM],
      { ...python, AOS_URL: service.url, AOS_TOKEN: token },
      folder,
    );
    expect([code, output.trim()]).to.deep.equal([0, '201 True 200 False 2']);
  });
});
