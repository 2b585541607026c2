import { expect } from 'chai';
import { tmpdir } from 'node:os';
import { run } from '../../support/programs.js';

describe('test programs', () => {
  const here = { cwd: tmpdir(), env: process.env };
  const failed = (script: string): Promise<string> =>
    run('sh', ['-c', script], { ...here, limitMs: 3000 }).then(
      () => 'ended',
      (error: Error) => error.message,
    );

  it('return their output and exit code', async () => {
    const ended = await run('sh', ['-c', 'echo one; echo two >&2; exit 3'], here);
    expect(ended).to.deep.equal({ code: 3, signal: null, stdout: 'one\n', stderr: 'two\n' });
    expect(await run('sh', ['-c', 'kill -9 $$'], here)).to.include({ code: null, signal: 'SIGKILL' });
  });

  it('are killed at the time limit when they hang, with their output', async () => {
    const reported = await failed('echo $$; exec sleep 987');
    expect(reported).to.match(/^sh -c .* had not ended after 3 s; still running:\n.* sleep 987\nprinted:\n\d+\n$/);
    const pid = Number(reported.trim().split('\n').at(-1));
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
  });

  it('are distinguished from child processes that hold their output open', async () => {
    const reported = await failed('sleep 986 & echo $!; exit 4');
    expect(reported).to.match(
      /exited with 4, a program that it started had not after 3 s; still running:\n.* sleep 986\n/,
    );
  });
});
