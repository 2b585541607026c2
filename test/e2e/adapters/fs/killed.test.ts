/**
 * A process that is killed while it puts packages in place: whole files alone, and what was put
 * stays.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FsReleaseStore } from '../../../../adapters/fs/release-store.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';

const PLACE = { product: 'shop', channel: 'stable', version: '1.0', platform: 'any' };
/** How often it is killed after each step. */
const KILLS = scaleRepeats(1);
/** The longest that it goes on after the step. */
const MOST_MS = 3;
const PROGRAM = join(import.meta.dirname, 'putting-process.js');

/** Runs it until `line` was said, waits `ms`, kills it. Answers the last number that was put. */
async function killed(root: string, line: string, ms: number): Promise<number> {
  const child = spawn(process.execPath, [PROGRAM, root], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it exited with ${code}`)));
    child.stdout.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes(`${line}\n`)) resolve();
    });
  });
  await new Promise((resolve) => setTimeout(resolve, ms));
  child.kill('SIGKILL');
  await ended;
  return Number(
    said
      .match(/put (\d+)\n/g)
      ?.at(-1)
      ?.match(/\d+/)?.[0] ?? 0,
  );
}

describe('release store on the file system after kill -9', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-killed-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const moments = ['stage 1', 'staged 1', 'put 1', 'stage 2', 'staged 2', 'staged 3'].flatMap((line) =>
    Array.from({ length: KILLS }, () => [line, Math.floor(Math.random() * (MOST_MS + 1))] as const),
  );
  for (const [line, ms] of moments) {
    it(`stays consistent when killed ${ms} ms after "${line}"`, async () => {
      const put = await killed(join(folder, 'store'), line, ms);
      const store = new FsReleaseStore(join(folder, 'store'));
      const held = await store.packages.readPackageInfo(PLACE);
      if (put > 0) expect(held).to.not.equal(null);
      if (held !== null) {
        expect(held.size).to.equal(300_000);
        const known = Array.from({ length: put + 3 }, (_, n) =>
          createHash('sha256')
            .update(Buffer.alloc(300_000, `package ${n} `))
            .digest('hex'),
        );
        expect(known.indexOf(held.sha256)).to.be.at.least(Math.max(put, 1));
      }
      if (held?.texts) {
        const { n } = JSON.parse(held.texts.manifest) as { n: number };
        expect(n).to.be.at.least(put);
        expect(held.texts.signature).to.match(/^signature \d+$/);
      }
      // What is left over is named, and goes.
      for (const { id } of await store.packages.listStaged()) await store.packages.discard(id);
      expect(await store.packages.listStaged()).to.deep.equal([]);
      expect(await store.open(['.incoming'])).to.equal(null);
    });
  }
});
