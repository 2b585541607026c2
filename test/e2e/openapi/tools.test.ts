/**
 * openapi.json before foreign programs: two linters, and three generators whose clients report an
 * error to the running service and ask it for lists. The two of openapi-generator are in
 * generator.test.ts.
 */
import { expect } from 'chai';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SHORT_RUN_NODE_OPTIONS } from '../../support/programs.js';
import { TestService } from '../../support/service.js';
import { run, TOOLS } from './programs.js';
import { isAvailable } from '../../support/requirements.js';

const TSC = fileURLToPath(new URL('../../../../node_modules/typescript/bin/tsc', import.meta.url));

const PROGRAM = `
import os
from client import AuthenticatedClient
from client.api.errors import report_error
from client.models import ErrorLevel, ErrorReport
service = AuthenticatedClient(base_url=os.environ["SVC_URL"], token=os.environ["SVC_TOKEN"])
report = ErrorReport(project="shop", error_level=ErrorLevel.ERROR, error_message="Boom", exception_class="Boom")
first = report_error.sync_detailed(client=service, body=report)
second = report_error.sync_detailed(client=service, body=report)
print(first.status_code.value, first.parsed.created, second.status_code.value, second.parsed.created, second.parsed.hit_count)
`;

const FETCHES = `
import createClient from 'openapi-fetch';
import type { paths } from './types.js';
declare const process: { env: Record<string, string> };
const headers = { authorization: 'Bearer ' + process.env['SVC_TOKEN'] };
const service = createClient<paths>({ baseUrl: process.env['SVC_URL'] ?? '', headers });
const body = { project: 'shop', error_level: 'error', error_message: 'Boom', exception_class: 'Fetched' } as const;
const reported = await service.POST('/api/errors/v1/report', { body });
const answer = reported.data;
const created: boolean | null = answer?.created ?? null;
const monitors = await service.GET('/api/watchdog/v1/monitors', { params: { query: { limit: 5 } } });
const count: number | undefined = monitors.data?.items.length;
console.log(JSON.stringify([reported.response.status, created, monitors.response.status, count]));
`;

const HEY = `
import { createClient } from './hey/client';
import { listItems, reportError } from './hey';
declare const process: { env: Record<string, string> };
async function main(): Promise<void> {
  const client = createClient({ baseUrl: process.env['SVC_URL'] ?? '', auth: process.env['SVC_TOKEN'] ?? '' });
  const body = { project: 'shop', error_level: 'error', error_message: 'Boom', exception_class: 'Hey' } as const;
  const reported = await reportError({ client, body });
  const items = await listItems({ client, query: { type: ['error'], exception_class: ['Hey'] } });
  const titles: string[] | undefined = items.data?.items.map(({ title }) => title);
  console.log(JSON.stringify([reported.data?.created, titles?.length]));
}
void main();
`;
/**
 * hey-api's own runtime, the same for every description, does not compile under the flag
 * (hey-api/hey-api#2363).
 */
const OF_ITS_RUNTIME = /^(?:hey\/(?:client|core)\/|\s)/;

describe('openapi.json with linters and generators', function () {
  let service: TestService;
  let folder: string;
  before(async function () {
    if (!isAvailable('openapi', existsSync(join(TOOLS, '.complete')))) this.skip();
    service = await TestService.createInProcess();
    await service.createProject('shop');
    folder = await mkdtemp(join(tmpdir(), 'aos-openapi-'));
    await writeFile(join(folder, 'openapi.json'), await (await fetch(`${service.url}/api/openapi.json`)).text());
  });
  after(async () => {
    await service?.dispose();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  const lint = (name: string, ...args: string[]): Promise<[number | null, string]> =>
    run(
      process.execPath,
      [...SHORT_RUN_NODE_OPTIONS, join(TOOLS, 'npm', 'node_modules', '.bin', name), 'lint', ...args, 'openapi.json'],
      { REDOCLY_TELEMETRY: 'off' },
      folder,
    );

  it('has no errors in redocly', async () => {
    const [code, output] = await lint('redocly');
    expect(code, output).to.equal(0);
  });

  it('has no errors in spectral', async () => {
    await writeFile(join(folder, '.spectral.json'), '{"extends":["spectral:oas"]}');
    const [code, output] = await lint('spectral', '-D', '-r', '.spectral.json');
    expect(code, output).to.equal(0);
  });

  it('generates openapi-fetch types for a program that compiles, reports an error and lists monitors', async () => {
    const tools = join(TOOLS, 'npm', 'node_modules');
    await symlink(tools, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'fetches.ts'), FETCHES);
    const generated = ['openapi.json', '-o', 'types.ts'];
    const [made, said] = await run(
      process.execPath,
      [...SHORT_RUN_NODE_OPTIONS, join(tools, '.bin', 'openapi-typescript'), ...generated],
      {},
      folder,
    );
    expect(made, said).to.equal(0);
    const options = '--strict --target es2022 --module nodenext --skipLibCheck --types'.split(' ');
    const [compiled, why] = await run(process.execPath, [TSC, ...options, '', 'fetches.ts'], {}, folder);
    expect(compiled, why).to.equal(0);
    const token = await service.createToken('bugtracker:report,watchdog:read');
    const env = { SVC_URL: service.url, SVC_TOKEN: token };
    const [code, output] = await run(process.execPath, ['fetches.js'], env, folder);
    expect([code, output.trim()]).to.deep.equal([0, '[201,true,200,0]']);
  });

  it('generates a hey-api client that compiles with exactOptionalPropertyTypes, reports and lists', async () => {
    const generated = ['-i', 'openapi.json', '-o', 'hey', '--no-log-file', '-s'];
    const tools = join(TOOLS, 'npm', 'node_modules', '.bin', 'openapi-ts');
    const [made, said] = await run(process.execPath, [...SHORT_RUN_NODE_OPTIONS, tools, ...generated], {}, folder);
    expect(made, said).to.equal(0);
    await writeFile(join(folder, 'asks.ts'), HEY);
    const options =
      '--strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --target es2022 --module commonjs';
    const further = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable', '--types', '', '--outDir'];
    const [, why] = await run(process.execPath, [TSC, ...options.split(' '), ...further, 'out', 'asks.ts'], {}, folder);
    expect(why.split('\n').filter((line) => line !== '' && !OF_ITS_RUNTIME.test(line))).to.deep.equal([]);
    await writeFile(join(folder, 'out', 'package.json'), '{"type":"commonjs"}');
    const token = await service.createToken('bugtracker:report,bugtracker:read');
    const env = { SVC_URL: service.url, SVC_TOKEN: token };
    const [code, output] = await run(process.execPath, ['out/asks.js'], env, folder);
    expect([code, output.trim()]).to.deep.equal([0, '[true,1]']);
  });

  it('generates a Python client that imports and reports an error', async () => {
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
    const token = await service.createToken('bugtracker:report', 'shop');
    const [code, output] = await run(
      'python3',
      ['-c', PROGRAM],
      { ...python, SVC_URL: service.url, SVC_TOKEN: token },
      folder,
    );
    expect([code, output.trim()]).to.deep.equal([0, '201 True 200 False 2']);
  });
});
