import { expect } from 'chai';
import { runProgram } from '../../../../../clients/agent/system/programs.js';
import { getRejection } from '../../../../harness.js';

describe('update-agent: system programs', function () {
  before(function () {
    if (process.platform === 'win32') this.skip();
  });

  it('receive no input, so that no program waits for input', async () => {
    expect((await runProgram('/bin/sh', ['-c', 'cat; echo done'], process.env)).stdout).to.equal('done\n');
  });

  for (const [what, script] of [
    ['does not end', 'exec sleep 600'],
    ['leaves a child with its output', 'sleep 600 & echo $!; exec sleep 600'],
  ] as const)
    it(`are killed when a program ${what}, with an error that names the program`, async () => {
      const error = await getRejection(runProgram('/bin/sh', ['-c', script], process.env, 200));
      expect(error.message).to.equal('/bin/sh -c did not exit within 0.2 s');
      const child = Number((error.cause as { stdout: string }).stdout);
      if (child > 0) process.kill(child, 'SIGKILL');
    });

  it('fail with their exit code and stderr', async () => {
    const error = await getRejection(runProgram('/bin/sh', ['-c', 'echo no >&2; exit 3'], process.env));
    expect(error).to.include({ code: 3, stderr: 'no\n' });
  });
});
