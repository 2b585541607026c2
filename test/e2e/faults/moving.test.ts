/**
 * `aos backup`, `restore`, `export` and `import` killed at random moments: the target is then empty
 * or complete, and the same command afterwards does what it should (contract 95, command line).
 */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../config/load.js';
import { writeExport } from '../../../adapters/archive/transfer/export.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { compose } from '../../../config/compose/compose.js';
import { verifyArchive } from '../../../config/compose/data-transfer.js';
import type { Doc } from '../../../ports/store/index.js';
import { getRejection } from '../../harness.js';
import { scaleRepeats } from '../../support/repeat-budget.js';
import { startStopwatch } from '../../support/cpu-time.js';
import { runCli, runCliJson, CLI_PATH, buildServiceEnv, TestService } from '../../support/service.js';

const KILLS = scaleRepeats(1);
const DOCUMENTS = 6_000;

describe('faults: kill -9 while a store is backed up or moved', function () {
  this.timeout(600_000);
  let folder: string;
  let source: TestService;
  let sum: string;
  /** How long a whole run takes, in ms. */
  const took = { backup: 0, export: 0 };
  const at = (name: string): string => join(folder, name);
  const envOf = (name: string): NodeJS.ProcessEnv => buildServiceEnv(at(name));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-killed-'));
    source = await TestService.create({}, at('source'));
    await source.createProject('shop');
    const store = new SqliteStore({ path: join(at('source'), 'aos.db'), durability: 'normal' });
    await store.connect();
    const rows = store.collection<Doc & { text: string }>('notes_of_a_plugin');
    for (let n = 0; n < DOCUMENTS; n += 500) {
      const row = (i: number) => ({ insert: { id: `n${n + i}`, text: `${n + i} ${Math.sin(n + i)}`.repeat(100) } });
      await rows.bulk(Array.from({ length: 500 }, (_, i) => row(i)));
    }
    await store.close();
    took.backup = await timed(() => runCliJson(source.env, ['backup', at('whole.backup.tar.gz')]));
    took.export = await timed(async () => {
      ({ sha256: sum } = await runCliJson<{ sha256: string }>(source.env, ['export', at('whole.export.tar.gz')]));
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs the command and kills it `ms` after its start. @returns whether it had ended by itself */
  function killed(env: NodeJS.ProcessEnv, args: string[], ms: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [CLI_PATH, ...args], { env, stdio: 'ignore' });
      const timer = setTimeout(() => child.kill('SIGKILL'), ms);
      child.on('error', reject);
      child.on('close', (code, signal) => {
        clearTimeout(timer);
        if (signal === null && code !== 0) reject(new Error(`${args.join(' ')} exited with ${code}`));
        else resolve(signal === null);
      });
    });
  }

  async function timed(whole: () => Promise<unknown>): Promise<number> {
    const passed = startStopwatch();
    await whole();
    return passed();
  }
  /** From the start of a run to its end, which `ms` is. */
  const moments = (ms: number): number[] => Array.from({ length: KILLS }, () => Math.random() * ms);

  /**
   * What `aos export` of this data directory would say of its documents, without another start of
   * the program.
   */
  async function documents(env: NodeJS.ProcessEnv): Promise<string> {
    const store = new SqliteStore({ path: join(env['SVC_DATA_DIR'] ?? '', 'aos.db'), durability: 'normal' });
    await store.connect();
    try {
      const about = { version: '0.0.0', created_at: new Date().toISOString(), keys: {} };
      const { contents } = await writeExport(at('check.tar.gz'), about, store, null);
      return contents.sha256;
    } finally {
      await store.close();
      await rm(at('check.tar.gz'), { force: true });
    }
  }

  for (const name of ['backup', 'export'] as const) {
    it(`aos ${name}: leaves a complete file or none`, async () => {
      const file = at(`k.${name}.tar.gz`);
      for (const ms of moments(took[name])) {
        await killed(source.env, [name, file], ms);
        if ((await readdir(folder)).includes(`k.${name}.tar.gz`)) {
          expect((await verifyArchive(file)).head.kind).to.equal(name);
          await rm(file);
        }
        await runCliJson(source.env, [name, file]);
        await rm(file);
      }
      expect(await documents(source.env)).to.equal(sum);
    });
  }

  it('aos restore: leaves no store or a store that the next start completes, and completes on retry', async () => {
    let n = 0;
    for (const ms of moments(await timed(() => runCliJson(envOf('timed'), ['restore', at('whole.backup.tar.gz')])))) {
      const env = envOf(`restored${n++}`);
      await killed(env, ['restore', at('whole.backup.tar.gz')], ms);
      const folderOf = env['SVC_DATA_DIR'] ?? '';
      const there = async (): Promise<string[]> => readdir(folderOf).catch(() => []);
      if ((await there()).includes('restore') && (await readdir(join(folderOf, 'restore'))).includes('ready.json')) {
        // A command is a start too.
        await runCliJson(env, ['migrate']);
        expect(await there()).to.not.include('restore');
      }
      if (!(await there()).includes('aos.db')) await runCliJson(env, ['restore', at('whole.backup.tar.gz')]);
      expect(await documents(env)).to.equal(sum);
    }
  });

  it('aos import: leaves an empty, complete or blocked store, which the same command completes', async () => {
    let n = 0;
    const fresh = async (): Promise<NodeJS.ProcessEnv> => {
      const env = envOf(`imported${n++}`);
      for (const key of ['data-key', 'license-key', 'release-key.pem'])
        await cp(join(at('source'), key), join(env['SVC_DATA_DIR'] ?? '', key));
      return env;
    };
    const first = await fresh();
    let half = 0;
    for (const ms of moments(await timed(() => runCliJson(first, ['import', at('whole.export.tar.gz')])))) {
      const env = await fresh();
      await killed(env, ['import', at('whole.export.tar.gz')], ms);
      const service = await compose('command', { configuration: await loadConfig({ env }) });
      const error = await service.boot({ migrate: false }).then(
        () => null,
        (reason: Error) => reason,
      );
      await service.stop();
      if (error !== null) {
        half++;
        expect(error.message).to.match(/^the import of .* was interrupted: run it again \(aos import <file>\)$/);
        expect((await runCli(env, ['migrate'])).stderr).to.equal(`${error.message}\n`);
      }
      const again = await runCli(env, ['import', at('whole.export.tar.gz')]);
      if (again.code !== 0) expect(again.stderr).to.match(/^The target is not empty/);
      expect(await documents(env)).to.equal(sum);
    }
    expect(half).to.be.within(0, KILLS);
  });

  it('leaves the store empty and without a marker after a failed import', async () => {
    const env = envOf('imported0');
    const file = at('other.tar.gz');
    await cp(at('whole.export.tar.gz'), file);
    const error = await getRejection(runCliJson({ ...env, SVC_DATA_DIR: at('nokeys') }, ['import', file]));
    expect(error.message).to.match(/belongs to other keys/);
    expect(await readdir(at('nokeys')).catch(() => [])).to.not.include('aos.db');
  });
});
