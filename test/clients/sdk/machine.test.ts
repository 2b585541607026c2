/**
 * Machine ids and seats of licenses in containers (contract 50, amendments; contract 90, SDK:
 * `machineId`).
 */
import { expect } from 'chai';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommonClient } from '../../../clients/sdk/client.js';
import { createContext } from '../../../clients/sdk/context.js';
import type { ClientHost } from '../../../clients/sdk/host.js';
import { createClient } from '../../../clients/sdk/index.js';
import { createNodeHost } from '../../../clients/sdk/node/host.js';
import { parseOptions } from '../../../clients/sdk/options.js';
import { identifyMachine, type MachineSources } from '../../../clients/sdk/node/machine.js';
import { deriveMachineId } from '../../../lib/formats/machine-id.js';
import { getConfiguredMachineId, isInContainer } from '../../../lib/formats/machine.js';
import { FakeServer, folder, json, removeFolder } from './server.js';

const SYSTEM_ID = '0123456789abcdef0123456789abcdef';

describe('sdk: machine ids', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await folder();
  });
  afterEach(() => removeFolder(dir));

  const sources = (more: Partial<MachineSources> = {}): MachineSources => ({
    systemId: () => Promise.resolve(null),
    isInContainer: () => Promise.resolve(false),
    ...more,
  });
  const inContainer = { isInContainer: () => Promise.resolve(true) };

  it('derives the id from the system, including in a container', async () => {
    const found = await identifyMachine(
      'shop',
      dir,
      sources({ systemId: () => Promise.resolve(SYSTEM_ID), ...inContainer }),
    );
    expect(found).to.deep.equal({ id: deriveMachineId('shop', SYSTEM_ID), isStable: true });
  });

  it('trusts a random id when a later start finds it again, and never in a container (S13)', async () => {
    const first = await identifyMachine('shop', dir, sources());
    expect(first.isStable).to.equal(false);
    expect(await identifyMachine('shop', dir, sources())).to.deep.equal({ id: first.id, isStable: true });
    expect(await identifyMachine('shop', dir, sources(inContainer))).to.deep.equal({ id: first.id, isStable: false });
  });

  it('does not trust an id that cannot be stored', async () => {
    await writeFile(join(dir, 'file'), '');
    for (let start = 0; start < 2; start++)
      expect((await identifyMachine('shop', join(dir, 'file'), sources())).isStable).to.equal(false);
  });

  for (const [name, env] of Object.entries({ 'too long': 'x'.repeat(129), 'two lines': 'a\nb' }))
    it(`rejects a SVC_MACHINE_ID that is ${name}`, () => {
      expect(() => getConfiguredMachineId({ SVC_MACHINE_ID: env })).to.throw(
        TypeError,
        'SVC_MACHINE_ID must be one line',
      );
    });

  it('treats an empty SVC_MACHINE_ID as not set', () => {
    expect(getConfiguredMachineId({ SVC_MACHINE_ID: '  ' })).to.equal(null);
  });

  for (const env of [{ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, { container: 'podman' }])
    it(`recognizes a container by ${Object.keys(env)[0] ?? ''}`, async () => {
      expect(await isInContainer(env)).to.equal(true);
    });

  describe('machine id of a client', () => {
    let server: FakeServer;
    const before = process.env['SVC_MACHINE_ID'];
    beforeEach(async () => {
      server = await new FakeServer().start();
      server.reply = ({ body }, response) => {
        const warnings = body['machine_unstable'] === true ? ['machine_id_unstable: no seat was taken'] : undefined;
        const answer = { status: 'active', valid: true, product: 'shop', cache_ttl_hours: 1, warnings };
        json(200, answer)({ body } as never, response);
      };
    });
    afterEach(async () => {
      if (before === undefined) delete process.env['SVC_MACHINE_ID'];
      else process.env['SVC_MACHINE_ID'] = before;
      await server.stop();
    });

    it('equals SVC_MACHINE_ID, unless the option is set', async () => {
      process.env['SVC_MACHINE_ID'] = ' web-7 ';
      const options = { server: server.url, project: 'shop', cacheDir: dir };
      expect(await createClient(options).validateLicense('K')).to.not.have.property('warnings');
      expect(server.asked.at(-1)?.body).to.include({ machine_id: 'web-7' }).and.not.have.property('machine_unstable');
      expect(await createClient({ ...options, machineId: 'm' }).machineId()).to.equal('m');
    });

    it('rejects a multi-line SVC_MACHINE_ID when the client is created', () => {
      process.env['SVC_MACHINE_ID'] = 'a\nb';
      expect(() => createClient({ server: server.url, project: 'shop', cacheDir: dir })).to.throw(TypeError);
    });

    it('marks unstable ids as unstable in requests, and returns the warning', async () => {
      const host: ClientHost = {
        ...createNodeHost(dir),
        identifyMachine: () => Promise.resolve({ id: 'c-1', isStable: false }),
      };
      const client = new CommonClient(createContext(parseOptions({ server: server.url, project: 'shop' }), host));
      const check = await client.validateLicense('K');
      expect(check).to.deep.include({ valid: true, warnings: ['machine_id_unstable: no seat was taken'] });
      expect(server.asked.at(-1)?.body).to.include({ machine_id: 'c-1', machine_unstable: true });
      await client.validateLicense('K', { machineId: 'web-1' });
      expect(server.asked.at(-1)?.body).to.include({ machine_id: 'web-1' }).and.not.have.property('machine_unstable');
    });
  });
});
