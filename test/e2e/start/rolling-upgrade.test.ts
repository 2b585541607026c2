/**
 * An upgrade that rolls over the processes of one store (contract 95, a bad day): two neighbouring
 * minor versions serve it together, in each step, and an older one says in one line why it does not
 * start.
 */
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPackageRoot } from '../../../config/load.js';
import { durableEngines } from '../../support/durable-engines.js';
import { createOtherVersion, type FileEdit, type OtherVersion } from '../../support/other-version.js';
import { runCli, TestService } from '../../support/service.js';

/** What a next version may bring: an additive migration and an index. */
const createEdits = (minors: readonly number[]): FileEdit[] => [
  {
    file: 'plugins/bugs/plugin.js',
    find: /collections: COLLECTIONS,/,
    replaceWith: `collections: COLLECTIONS, migrations: [${minors
      .map(
        (minor) =>
          `{number:${900 + minor},name:"later-${minor}",run:(ctx)=>ctx.collection("items").changeMany({},{set:{later:${minor}}})}`,
      )
      .join()}],`,
  },
  {
    file: 'plugins/bugs/collections.js',
    find: /name: 'items',[^]*?indexes: \[/,
    replaceWith: `$&${minors.map((minor) => `{fields:["later","x${minor}"]},`).join('')}`,
  },
];

/** The next version, and the one after it. */
let programs: OtherVersion[];
let versions: string[];
before(async () => {
  const about = JSON.parse(await readFile(join(findPackageRoot(), 'package.json'), 'utf8')) as { version: string };
  const [major = 0, minor = 0] = about.version.split('.').map(Number);
  versions = [minor, minor + 1, minor + 2].map((n) => `${major}.${n}.0`);
  programs = await Promise.all([
    createOtherVersion(versions[1] ?? '', createEdits([1])),
    createOtherVersion(versions[2] ?? '', createEdits([1, 2])),
  ]);
});
after(() => Promise.all((programs ?? []).map((program) => program.remove())));

for (const engine of durableEngines) {
  describe(`rolling upgrade on ${engine.name}`, function () {
    let old: TestService;
    let next: TestService;
    before(async function () {
      const settings = await engine.settings();
      if (settings === null) this.skip();
      old = await TestService.create(settings);
      // Of its own on a shared store; the embedded one is served by one process at a time.
      next = await TestService.create(settings, engine.name === 'sqlite' ? old.dataDir : undefined);
      next.cli = programs[0]?.cli ?? '';
    });
    after(async () => {
      await next?.dispose();
      await old?.dispose();
    });

    const report = async (service: TestService, token: string, ref: string): Promise<string> => {
      const body = { project: 'shop', title: `bug ${ref}`, client_ref: ref, file_path: 'src/a.ts' };
      const answer = await service.request('POST', '/api/bugtracker/v1/report', token, body);
      expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
      return String(answer.body['id']);
    };
    const read = async (service: TestService, token: string, id: string): Promise<number> =>
      (await service.request('GET', `/api/bugtracker/v1/bugs/${id}`, token)).status;
    const pending = async (service: TestService): Promise<unknown> => {
      const { body } = await service.request('GET', '/api/health', String(service.env['SVC_SHARED_KEY']));
      return (body['schema'] as { pending: unknown }).pending;
    };
    /** On the embedded store one process follows the other; elsewhere both serve. */
    const beside = async (service: TestService, other: TestService): Promise<void> => {
      if (engine.name === 'sqlite') await other.stop();
      if (service.child === null) await service.start();
    };

    let token: string;
    let last: string;

    it('serves data written by either version in both, and restarts the old version on the new store', async () => {
      await old.start();
      await old.createProject('shop');
      token = await old.createToken('bugtracker:report,bugtracker:read');
      const first = await report(old, token, 'a');
      await beside(next, old);
      expect(await pending(next)).to.deep.equal([]);
      expect(await read(next, token, first)).to.equal(200);
      const second = await report(next, token, 'b');
      await beside(old, next);
      expect(await read(old, token, second)).to.equal(200);
      if (engine.name !== 'sqlite') {
        // Until here it has run from before the upgrade.
        await old.stop();
        await old.start();
      }
      last = await report(old, token, 'c');
      expect(await pending(old)).to.deep.equal([]);
      // On the embedded store the neighbour reads it below.
      if (engine.name !== 'sqlite') {
        expect(await read(next, token, last)).to.equal(200);
        expect(await pending(next)).to.deep.equal([]);
      }
    });

    it('denies the start of a version two steps behind, with a one-line reason, but not of its successor', async () => {
      await old.stop();
      await next.stop();
      const [neighbour, later] = programs;
      next.cli = later?.cli ?? '';
      await next.start();
      await next.stop();
      const { code, stdout, stderr } = await runCli(old.env, ['serve']);
      expect(code).to.equal(1);
      expect(stdout.split('\n').filter((line) => line.startsWith('listening'))).to.deep.equal([]);
      const lines = stderr.trimEnd().split('\n');
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(/the store has the migration \S+ of version/);
      expect(lines[0]).to.include(versions[2]).and.to.include(versions[0]);
      next.cli = neighbour?.cli ?? '';
      await next.start();
      expect(await pending(next)).to.deep.equal([]);
      expect(await read(next, token, last)).to.equal(200);
    });
  });
}
