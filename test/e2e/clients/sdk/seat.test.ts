/** A program that holds a floating seat by the SDK, before the real service, and how it ends. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestService } from '../../../support/service.js';

const SDK = new URL('../../../../clients/sdk/index.js', import.meta.url).href;
const PROGRAM = `
import { createClient } from ${JSON.stringify(SDK)};
const [server, key, machineId, cacheDir, ending] = process.argv.slice(1);
const client = createClient({ server, project: 'shop', machineId, cacheDir });
const { license } = await client.holdSeat(key);
if (ending === 'two') await createClient({ server, project: 'shop', machineId: 'other', cacheDir }).holdSeat(key);
process.stdout.write(license.status + '\\n');
if (ending !== 'itself') setInterval(() => undefined, 1_000);
if (ending === 'own') process.on('SIGTERM', () => setTimeout(() => process.exit(7), 1_500));
`;

describe('sdk: a program with a floating seat', () => {
  let service: TestService;
  let dir: string;
  let key: string;
  let id: string;
  let token: string;
  before(async () => {
    service = await TestService.createStarted();
    dir = await mkdtemp(join(tmpdir(), 'aos-seat-'));
    await service.createProject('shop');
    token = await service.createToken('license:manage');
    const requested = { product: 'shop', floating: true, max_activations: 2 };
    const { body } = await service.request('POST', '/api/license/v1/licenses', token, requested);
    key = body['key'] as string;
    id = (body['license'] as { id: string }).id;
  });
  after(async () => {
    await service?.dispose();
    await rm(dir, { recursive: true, force: true });
  });

  const start = (ending: string): ChildProcess => {
    const args = [service.url, key, 'till-1', join(dir, 'cache'), ending];
    return spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  };
  const listMachines = async (): Promise<string[]> => {
    const { body } = await service.request('GET', `/api/license/v1/licenses/${id}/leases`, token);
    return (body['items'] as { machine_id: string }[]).map(({ machine_id }) => machine_id).sort();
  };

  it('gives the seat back when it ends by itself', async () => {
    const program = start('itself');
    const exit = once(program, 'exit');
    const [said] = (await once(program.stdout!, 'data')) as [Buffer];
    expect(String(said)).to.equal('active\n');
    expect(await exit).to.deep.equal([0, null]);
    expect(await listMachines()).to.deep.equal([]);
  });

  for (const [ending, machines, code, signal] of [
    ['signal', ['till-1'], null, 'SIGTERM'],
    ['two', ['other', 'till-1'], null, 'SIGTERM'],
    ['own', ['till-1'], 7, null],
  ] as const)
    it(`gives the seat back at SIGTERM and ends as it would without the SDK (${ending})`, async () => {
      const program = start(ending);
      await once(program.stdout!, 'data');
      expect(await listMachines()).to.deep.equal(machines);
      const exit = once(program, 'exit');
      program.kill('SIGTERM');
      expect(await exit).to.deep.equal([code, signal]);
      expect(await listMachines()).to.deep.equal([]);
    });

  it('a killed program keeps its seat until the lease ends', async () => {
    const program = start('signal');
    await once(program.stdout!, 'data');
    const exit = once(program, 'exit');
    program.kill('SIGKILL');
    await exit;
    expect(await listMachines()).to.deep.equal(['till-1']);
  });
});
