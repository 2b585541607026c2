/** The lock of an installation where a clock was put back (contract 90). */
import { expect } from 'chai';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentFailure } from '../../../clients/agent/exit.js';
import { acquireLock } from '../../../clients/agent/update/lock.js';

describe('update-agent: lock of another boot or container', () => {
  let folder: string;
  const AHEAD = new Date(Date.now() + 365 * 86_400_000);
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-lock-'));
    await writeOwner({ host: 'another-machine' });
    await utimes(join(folder, '7'), AHEAD, AHEAD);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const writeOwner = (owner: { host?: string }): Promise<void> =>
    writeFile(join(folder, '7'), JSON.stringify({ pid: 1, began: '1', space: 'another boot', ...owner }));

  it('expires immediately when its owner ran on this machine before its last start (S02)', async () => {
    for (const owner of [{ host: hostname() }, {}]) {
      await writeOwner(owner);
      await (await acquireLock(folder)).release();
    }
  });

  it('is held while another machine shares the directory', async () => {
    await writeOwner({ host: 'another-machine' });
    const failure = await acquireLock(folder).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AgentFailure).and.include({ outcome: 'busy' });
  });

  it('is taken over when its timestamp is in the future because the clock moved backwards', async () => {
    await (await acquireLock(folder, 20)).release();
  });

  it('is held while its owner renews it, regardless of the clock', async () => {
    let n = 0;
    const owner = setInterval(() => {
      const now = new Date(AHEAD.getTime() + 1000 * ++n);
      void utimes(join(folder, '7'), now, now);
    }, 5);
    const failure = await acquireLock(folder, 50).catch((error: unknown) => error);
    clearInterval(owner);
    expect(failure).to.be.instanceOf(AgentFailure).and.include({ outcome: 'busy' });
  });
});
