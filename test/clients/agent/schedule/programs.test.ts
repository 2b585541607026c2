/** Programs that root may start every night (contract 90, whom it believes). */
import { chmod, chown, mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { resolveRootProgram } from '../../../../clients/agent/system/programs.js';
import { remove, scratch } from '../agent.js';

describe('update-agent: programs that root may schedule', () => {
  let folder: string;
  let program: string;

  beforeEach(async function () {
    if (process.geteuid?.() !== 0) this.skip();
    folder = await realpath(await scratch());
    await mkdir(join(folder, 'bin'), { mode: 0o755 });
    program = join(folder, 'bin', 'agent.cjs');
    await writeFile(program, '', { mode: 0o644 });
  });
  afterEach(() => remove(folder));

  const CASES: { when: string; change: () => Promise<void>; names: () => string }[] = [
    { when: 'its file belongs to another user', change: () => chown(program, 1234, 0), names: () => program },
    { when: 'its group may write the file', change: () => chmod(program, 0o664), names: () => program },
    { when: 'all may write the file', change: () => chmod(program, 0o646), names: () => program },
    {
      when: 'its folder belongs to another user',
      change: () => chown(join(folder, 'bin'), 1234, 0),
      names: () => join(folder, 'bin'),
    },
    {
      when: 'the group may write its folder',
      change: () => chmod(join(folder, 'bin'), 0o775),
      names: () => join(folder, 'bin'),
    },
    { when: 'a folder above belongs to another user', change: () => chown(folder, 1234, 1234), names: () => folder },
  ];
  for (const { when, change, names } of CASES) {
    it(`rejects a program as root when ${when}, and names the program`, async () => {
      await change();
      const error: unknown = await resolveRootProgram(program).catch((thrown: unknown) => thrown);
      expect(error).to.include({ outcome: 'usage' });
      expect((error as Error).message)
        .to.include(`${names()} `)
        .and.include('install the agent in a folder owned by root');
    });
  }

  it('resolves a link in another user’s folder to the file owned by root', async () => {
    const others = join(folder, 'others');
    await mkdir(others);
    await chown(others, 1234, 1234);
    await symlink(program, join(others, 'agent.cjs'));
    expect(await resolveRootProgram(join(others, 'agent.cjs'))).to.equal(program);
    const target = join(others, 'target.cjs');
    await writeFile(target, '');
    await symlink(target, join(folder, 'bin', 'link.cjs'));
    const error: unknown = await resolveRootProgram(join(folder, 'bin', 'link.cjs')).catch((thrown: unknown) => thrown);
    expect(error).to.include({ outcome: 'usage' });
  });
});
